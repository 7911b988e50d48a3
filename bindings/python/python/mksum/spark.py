"""Roots of files and objects on a Spark cluster, classic or Connect: `pip install mksum[spark]`.

>>> frame = mksum.spark.hash(spark, "s3://bucket/prefix/", "hdfs://host:8020/ledger", "blake3")     # doctest: +SKIP
>>> frame.where("status != 'ok'").show()                                                            # doctest: +SKIP

Workers read the objects by themselves; between them go only rows of plans and ledgers (see `mksum.cluster`). What must be read
is packed into tasks, and a Spark task hashes one of them. Its rows are in the ledger when it ends, also if the driver or the job
ends before the others. The join reads the ledger. So the result may be read twice, and a run after a failure reads what is
missing. `LEDGER/inputs/` has the listing of each run, which its result needs and later runs do not.

URLs of objects are mksum's (`s3://`, `gs://`, `az://`, `hdfs://`, `https://`), with credentials of the workers' environment. The
ledger is a folder that Spark reads. Where its full name is a path that all machines share or one of mksum's URLs
(`hdfs://`, `s3://`, `gs://`, `abfss://`), each task writes a file there by itself; elsewhere (`s3a://`, `abfs://`, `dbfs:/`)
Spark writes the rows with its own configuration, which takes longer.
"""

# pyspark and pyarrow are optional.
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

import concurrent.futures
import contextlib
import functools
import gc
import itertools
import re
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

import mksum
from mksum import cluster
from mksum._metrics import Metrics
from mksum._places import STORES
from mksum.cluster import PART, TASK, Ledger, Listed, Result, Span
from mksum.types import AnyPath, Format

Batches: TypeAlias = "Iterator[pa.RecordBatch]"
Done: TypeAlias = Callable[[Any], object]
"""Called in workers with figures to be added."""
OnMetrics: TypeAlias = Callable[[Metrics], object]
"""Called with the figures of a job so far."""
Source: TypeAlias = AnyPath | DataFrame
"""A URL, a path, a folder; or a frame of inputs with the columns `path`, `size` and, if it is known, `etag`."""

INPUTS = "path string, size bigint, version string, status string, error string"
ROWS = (
    "kind string, schema int, path string, version string, size bigint, format string, offset bigint, length bigint, level int, "
    "digest string, crc32 string"
)
KNOWN = f"{ROWS}, path_base64 string, unit bigint, units string"
"""What is read of a row in a ledger: also what `mksum map` writes, and the check covers."""
ERRORS = "run string, read_at string, status string, error string"
RUNS = "kind string, schema int, run string, ended_at string"
RESULTS = (
    "object string, etag string, size bigint, format string, root string, status string, error string, run string, "
    "verified_at string"
)
BOUND = ("offset", "length", "level")
BOUNDS = "struct<offset: bigint, length: bigint, level: int>"
TASKS = f"spans array<struct<path: string, version: string, size: bigint, parts: array<{BOUNDS}>>>"

BATCH = 10_000
"""The rows of an Arrow batch."""
ASKED = 16
"""The files that a worker asks about at the same time."""
FILES = ("parquet", "orc", "csv", "json", "text", "avro", "hive", "delta")
"""The kinds of tables whose files Spark lists by itself."""
PARTITIONS = 100_000
"""The Spark tasks of a job, at most: beyond that, each hashes several tasks."""
PACKAGE = "spark.jars.packages=org.apache.hadoop:hadoop-{}:VERSION, the version of its Hadoop"
FILE_SYSTEMS = {
    "s3": f"{PACKAGE.format('aws')}, and spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem",
    "s3a": PACKAGE.format("aws"),
    "abfs": PACKAGE.format("azure"),
    "abfss": PACKAGE.format("azure"),
    "gs": f"{PACKAGE.format('gcp')} if that is 3.5 or later, or with Google's gcs-connector",
}
"""The settings with which a stock Spark reads and writes what has these schemes."""
LACKING = re.compile(r"No FileSystem for scheme|ClassNotFoundException: Class \S+FileSystem not found")
"""What Hadoop says without them."""


def hash(
    spark: SparkSession,
    source: Source,
    ledger: str,
    fmt: Format = "rfc6962",
    *,
    part: int = PART,
    task: int = TASK,
    threads: int | None = 1,
    files: Any = None,
    symlinks: cluster.Links = "skip",
    on_plan: cluster.OnPlan | None = None,
    on_progress: Callable[[int], object] | None = None,
    on_metrics: OnMetrics | None = None,
) -> DataFrame:
    """Hashes what is not in the ledger, and returns a frame with the root of each input.

    Args:
        spark: The session.
        source: A URL, a path or a folder, listed by a worker; or a frame with the columns `path`, `size` and `etag`, as of
            S3 Inventory. A path that is there with two versions, or without a size or etag, is an error of that object alone. Of
            a frame without a column `etag`, as of `table`, the workers ask for the version of each file, and compare its size
            with that of the frame, if it has one.
        ledger: The URI of a folder that Spark reads: new, or that of an earlier run, which is continued. Two jobs at the same
            time need two.
        fmt: The format.
        part: The longest part, in bytes. Parts in the ledger that have other bounds are read again.
        task: The cost of a Spark task, in bytes: its bytes, and 4 MiB for each input. A worker that dies loses the tasks in its
            hands.
        threads: The threads of a task: as many as `spark.task.cpus`.
        files: A store of obstore, or a file system of fsspec or pyarrow.fs, that has the inputs.
        symlinks: What becomes of the symbolic links in a folder.
        on_plan: Called before the first task with the bytes that the ledger lacks and the number of inputs that have them; by
            `verify`, once for each format of its roots. `on_progress` comes to the sum of these bytes if nothing fails.
        on_progress: Called with the bytes that were hashed since the last call, about once a second, in another thread; not
            with Connect, whose sessions have `addProgressHandler`: tasks cost about the same.
        on_metrics: Called like that with what all tasks of the job have come to so far, by an accumulator of Spark: bytes,
            requests to stores, those for the ledger too, and the seconds of the tasks, added up. A task that Spark runs twice
            may count twice, and one whose worker died does not count. Listing and asking for versions are not in it. Not called
            if the ledger has everything.

    Returns:
        A frame with the columns of `mksum.cluster.Result`: object, etag, size, format, root, status, error, run, verified_at. It
        is computed from the ledger.

    Raises:
        FormatError: The format is unknown.
        RefusedError: There are no inputs: an empty frame would look like success. Or Spark has no file system for the ledger.
        PySparkException: The job failed: run it again with the same ledger.
    """
    how: Any = {"part": part, "task": task, "threads": threads, "files": files, "symlinks": symlinks}
    how |= {"on_plan": on_plan, "on_progress": on_progress, "on_metrics": on_metrics}
    return _hashed_in(cluster.new_run(), "digests", spark, source, ledger, fmt, **how)


def _hashed_in(
    run: str,
    kind: str,
    spark: SparkSession,
    source: Source,
    ledger: str,
    fmt: Format,
    *,
    part: int = PART,
    task: int = TASK,
    threads: int | None = 1,
    files: Any = None,
    symlinks: cluster.Links = "skip",
    on_plan: cluster.OnPlan | None = None,
    on_progress: Callable[[int], object] | None = None,
    on_metrics: OnMetrics | None = None,
) -> DataFrame:
    """The roots of inputs from a ledger's rows of a kind, after a run has hashed what these lack.

    Rows of verifications are taken from their own run alone.
    """
    evidence, of_run = F.col("rows") == kind, F.col("run") == run
    evidence = evidence & of_run if kind == "verified" else evidence
    spec, listing = cluster.canonical(fmt), uuid.uuid4().hex
    progress = _Progress(spark, on_progress, on_metrics)
    # What was listed is written down first, so that all later steps are about the same versions.
    listed = f"{ledger.rstrip('/')}/inputs/run={listing}"
    with _of_spark(ledger):
        _inputs(spark, source, files, symlinks).write.json(listed)
    inputs = spark.read.schema(INPUTS).json(_literal(listed))
    rows = _rows(spark, ledger)
    known = _grouped(inputs, rows and rows.where(evidence))
    tasks = known.mapInArrow(functools.partial(_missing, fmt=spec, part=part, task=task), TASKS).persist()
    try:
        count = tasks.count()
        if not count and inputs.isEmpty():
            raise mksum.RefusedError(cluster.NOTHING)
        if on_plan is not None:
            spans = tasks.select(F.explode("spans").alias("span"))
            total = F.sum(F.expr("aggregate(span.parts, 0L, (sum, part) -> sum + part.length)"))
            size, several = spans.select(F.coalesce(total, F.lit(0)), F.count_distinct("span.path")).collect()[0]
            on_plan(size, several)
        if count:
            with progress:
                options = {"fmt": spec, "run": run, "kind": kind, "threads": threads, "files": files, "done": progress.done}
                spread, place = tasks.repartition(min(count, PARTITIONS)), _place(inputs, listing)
                if place is not None:
                    spread.mapInArrow(functools.partial(_worked, ledger=place, **options), "none string").collect()
                else:
                    hashed = spread.mapInArrow(functools.partial(_hashed, **options), f"{ROWS}, {ERRORS}, rows string")
                    # The second algorithm moves a task's file to its place when the task ends, the first when the job does.
                    writer = hashed.write.mode("append").option("mapreduce.fileoutputcommitter.algorithm.version", "2")
                    writer.partitionBy("rows").json(ledger)
    finally:
        tasks.unpersist()
    rows = _rows(spark, ledger)
    joined = _grouped(inputs, rows and rows.where(evidence | ((F.col("rows") == "errors") & of_run)))
    return joined.mapInArrow(functools.partial(_joined, fmt=spec, part=part, run=run), RESULTS)


def verify(
    spark: SparkSession, kept: DataFrame, ledger: str, fmt: Format | None = None, *, run: str | None = None, **options: Any
) -> DataFrame:
    """Reads objects again and compares their roots with those that were kept.

    Digests of other runs are no evidence: whatever the ledger holds, every byte is read.

    Args:
        spark: The session.
        kept: The frame of an earlier `hash`; rows without a root are left out. `kept.sample(0.01)` finds decay at a part of
            the cost.
        ledger: The URI of a folder that Spark reads; that of `hash` or an earlier `verify` will do.
        fmt: The format of the roots, if they do not have it; roots in another one are `not comparable`.
        run: A name for this verification. With the same name, one that was interrupted goes on and reads what is missing.
        options: Those of `hash`.

    Returns:
        A frame as that of `hash`. The status is `damaged` if the bytes have another root now, `changed` if the object was
        replaced, `gone` if it was deleted.

    Raises:
        RefusedError: The run has ended, or no kept row has a root, so it would read nothing.
    """
    folder = ledger.rstrip("/")
    ran = _read(spark, f"{_literal(folder)}/rows=runs", RUNS)
    if run is not None and ran is not None and not ran.where(F.col("run") == run).isEmpty():
        raise mksum.RefusedError(cluster.ended(ledger, run))
    run, wanted = run or cluster.new_run(), None if fmt is None else cluster.canonical(fmt)
    call: Any = functools.partial(cluster.to_compare, wanted=wanted, run=run, files=options.get("files"))
    rows = kept.where(F.col("root").isNotNull()).mapInArrow(functools.partial(_each, call=call), RESULTS).persist()
    if rows.isEmpty():
        raise mksum.RefusedError(cluster.NO_ROOTS)
    results = rows.where("status <> 'ok'")
    for row in rows.where("status = 'ok'").select("format").distinct().collect():
        several = rows.where((F.col("status") == "ok") & (F.col("format") == row["format"]))
        source = several.select(F.col("object").alias("path"), "size", "etag")
        found = _hashed_in(run, "verified", spark, source, ledger, row["format"], **options)
        roots = several.select("object", F.col("root").alias("kept"))
        several = found.join(roots, "object").select(*found.columns, "kept")
        results = results.union(several.mapInArrow(functools.partial(_each, call=_compared), RESULTS))
    written = _rows(spark, ledger)
    if written is None or written.where((F.col("run") == run) & (F.col("status") == "failed")).isEmpty():
        end = spark.createDataFrame([("run", 1, run, cluster.now())], RUNS)
        end.coalesce(1).write.mode("append").json(f"{folder}/rows=runs")
    return results


def table(spark: SparkSession, name: str) -> DataFrame:
    """Returns the data files of a table as they are now, as a source for `hash`.

    >>> frame = mksum.spark.hash(spark, mksum.spark.table(spark, "db.t"), "hdfs://host:8020/ledger")    # doctest: +SKIP

    Of Iceberg these are the files in `NAME.files`: those with data and those with deletes of the current snapshot, and their
    sizes. Of Delta the data files of the current version, and of a table of Parquet, ORC, CSV, JSON, text or Avro, also Hive's,
    all files that Spark reads: their paths alone, which the driver lists. Not in it are the metadata of Iceberg, and the log and
    the deletion vectors of Delta: hash the folder of the table for these.

    Args:
        spark: The session.
        name: The name of the table as `spark.table` takes it; of one in a catalog of Iceberg with the catalog and the database.

    Returns:
        A frame with the columns `path` and `size`, the size in bytes or null. It has no `etag`, since tables do not have them.

    Raises:
        RefusedError: It is a view, or a table of another kind, or one whose files Spark does not know.
        AnalysisException: There is no such table.
    """
    facts: dict[str, str] = {}
    for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect():
        # Columns come first, and may be named like facts.
        facts = {} if row["col_name"] == "# Detailed Table Information" else {**facts, row["col_name"]: row["data_type"]}
    provider = facts.get("Provider", "").lower()
    if "Location" not in facts or provider not in ("iceberg", *FILES):
        kind = f"a table of '{provider}'" if provider else "no table, but perhaps a view of tables"
        words = (
            f"{name}: {kind}: expected one of iceberg, {', '.join(FILES)}; or pass hash a frame with the columns path and size"
        )
        raise mksum.RefusedError(words)
    if provider != "delta":
        # Sessions remember what a table was, and which files a folder had.
        spark.catalog.refreshTable(name)
    if provider == "iceberg":
        found = spark.table(f"{name}.files").select(F.col("file_path").alias("path"), F.col("file_size_in_bytes").alias("size"))
        # A file may hold the deletes of several others. Names are not encoded: a path is a name as well, a URI of a file is not.
        return found.withColumn("path", F.regexp_replace("path", "^file:/+", "/")).distinct()
    # Spark's own tables name files by URIs, Delta by what these mean.
    paths = [path if provider == "delta" else unquote(path) for path in spark.table(name).inputFiles()]
    paths = [re.sub("^file:/+", "/", path) for path in paths]
    if provider == "hive" and [path.rstrip("/") for path in paths] == [re.sub("^file:/+", "/", facts["Location"]).rstrip("/")]:
        words = f"{name}: Spark does not list the files of this table of Hive: hash its folder, {facts['Location']}"
        raise mksum.RefusedError(words)
    return spark.createDataFrame([(path, None) for path in sorted(paths)], "path string, size bigint")


def register(spark: SparkSession) -> None:
    """Registers the data source `mksum` with a session: see `MksumSource`."""
    spark.dataSource.register(MksumSource)


class MksumSource(DataSource):
    """The data source `mksum`: what is at a path or URL, as rows.

    `spark.read.format("mksum").options(fmt="blake3").load("s3://bucket/prefix/")` has the rows of a ledger: it hashes all
    parts, each time that the frame is read (`hash` writes them down first). Parts that cannot be hashed have no digest, and an
    `error`.
    The driver lists the inputs and holds the plan; a partition is a list of parts.

    Options: `fmt`, `part`, `task`, `threads` and `symlinks` as for `hash`; `rows`, which may be `inputs` for the listing alone,
    by a worker. Others are errors.
    """

    OPTIONS = ("path", "fmt", "part", "task", "threads", "symlinks", "rows")

    def __init__(self, options: dict[str, str]) -> None:
        """Refuses options that it does not have.

        Raises:
            RefusedError: An option is unknown.
        """
        super().__init__(options)
        for name in options:
            if name.lower() not in self.OPTIONS:
                words = f"the data source 'mksum' has no option '{name}': it has {', '.join(self.OPTIONS[1:])}"
                raise mksum.RefusedError(words)

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "mksum"

    def schema(self) -> str:
        """The columns."""
        return INPUTS if self.options.get("rows") == "inputs" else f"{ROWS}, status string, error string"

    def reader(self, schema: StructType) -> "DataSourceReader":
        """The reader for these options."""
        return _Reader(dict(self.options))


class _Task(InputPartition):
    """A partition: a list of parts of inputs, and inputs that cannot be hashed; or the listing of a source."""

    def __init__(self, spans: list[Span] | None, wrong: Sequence[Listed] = ()) -> None:
        self.spans, self.wrong = spans, wrong


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        if "path" not in options:
            raise mksum.RefusedError('nothing to read: name a path or URL in load("…")')
        if options.get("rows", "digests") not in ("inputs", "digests"):
            raise mksum.RefusedError(f"rows '{options['rows']}': these can be inputs or digests")
        self.path, self.lists = options["path"], options.get("rows") == "inputs"
        self.symlinks = options.get("symlinks", "skip")
        self.fmt = str(mksum.Spec(options.get("fmt", "rfc6962")))
        self.part, self.task = int(options.get("part", PART)), int(options.get("task", TASK))
        self.threads = int(options.get("threads", 1))

    def partitions(self) -> Sequence[InputPartition]:
        if self.lists:
            return [_Task(None)]
        wrong: list[Listed] = []
        tasks = [_Task(spans) for spans in cluster.packed(self._planned(wrong), self.task)]
        return [*tasks, _Task([], wrong)] if wrong or not tasks else tasks

    def _planned(self, wrong: list[Listed]) -> Iterator[tuple[Listed, list[cluster.Bounds]]]:
        """Yields inputs and their parts; appends those that have none to `wrong`."""
        for item in cluster.inputs(self.path, symlinks=self.symlinks):
            if item.get("error") is not None:
                wrong.append(item)
                continue
            try:
                yield item, cluster.planned(item, self.fmt, self.part)
            except mksum.LengthError as error:
                wrong.append({**item, "status": "failed", "error": f"{item['path']}: {error}"})

    def read(self, partition: InputPartition) -> Batches:
        assert isinstance(partition, _Task)
        if partition.spans is None:
            yield from _batches(cluster.inputs(self.path, symlinks=self.symlinks), INPUTS)
            return
        rows = cluster.hashed(partition.spans, self.fmt, threads=self.threads)
        wrong = ({"kind": "range", "schema": 1, "format": self.fmt, **item} for item in partition.wrong)
        yield from _batches(itertools.chain(rows, wrong), f"{ROWS}, status string, error string")


def _inputs(spark: SparkSession, source: Any, files: Any, symlinks: cluster.Links) -> DataFrame:
    """The inputs of a source, as a frame."""
    if hasattr(source, "mapInArrow"):
        columns = [F.col("path"), F.col("size").cast("bigint")]
        if "etag" in source.columns:
            return source.select(*columns, "etag").mapInArrow(functools.partial(_listed, files=files), INPUTS)
        return source.select(*columns).mapInArrow(functools.partial(_asked, files=files), INPUTS)
    # As a task, so that the driver needs no access and holds no listing. The data source would plan it in two processes more.
    call = functools.partial(_list, source=source, files=files, symlinks=symlinks)
    return spark.range(1, numPartitions=1).mapInArrow(call, INPUTS)


def _list(batches: Batches, source: AnyPath, files: Any, symlinks: cluster.Links) -> Batches:
    for _ in batches:
        yield from _batches(cluster.inputs(source, files, symlinks), INPUTS)


def _listed(batches: Batches, files: Any) -> Batches:
    rows = (row for batch in batches for row in batch.to_pylist())
    yield from _batches((cluster.listed(row["path"], row["size"], row["etag"], files) for row in rows), INPUTS)


def _asked(batches: Batches, files: Any) -> Batches:
    with concurrent.futures.ThreadPoolExecutor(ASKED) as pool:
        for batch in batches:
            rows = batch.to_pylist()
            found = pool.map(lambda row: cluster.asked(row["path"], row["size"], files), rows)
            yield from _batches(found, INPUTS)


def _place(inputs: DataFrame, listing: str) -> Ledger | None:
    """The ledger as tasks write to it, by the full name that Spark gives to the listing in it; None if Spark alone knows it."""
    for file in inputs.inputFiles():
        folder, below, _ = file.partition(f"/inputs/run={listing}/")
        if below and folder.startswith(("file:", *(f"{scheme}://" for scheme in STORES))):
            return Ledger(folder if folder.startswith("file:") else unquote(folder))
    return None


def _rows(spark: SparkSession, ledger: str) -> DataFrame | None:
    """The rows of a ledger as they are now, `rows` being their kind; None if it has none. Those whose writer was killed are
    missing.
    """
    whole = "schema = 1 and path is not null and offset is not null and length is not null and level is not null"
    found = _read(spark, f"{_literal(ledger.rstrip('/'))}/rows=*", f"{KNOWN}, {ERRORS}, rows string", basePath=ledger)
    return found and found.where(whole)


def _literal(path: str) -> str:
    """A path as Spark's readers take it, to which `[`, `{` and others are patterns."""
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", path)


def _read(spark: SparkSession, paths: str, schema: str, **options: str) -> DataFrame | None:
    """Rows in files of JSON lines; None if there is no file."""
    try:
        with _of_spark(paths):
            found = spark.read.schema(schema).options(**options).json(paths)
            # A Connect session looks for the folder only now.
            return found if found.columns else None
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return None
        raise


@contextlib.contextmanager
def _of_spark(ledger: str) -> Iterator[None]:
    """Says what Spark lacks if it has no file system for the URL of a ledger.

    Raises:
        RefusedError: In the place of Spark's error, which each kind of session has in another class.
    """
    try:
        yield
    except Exception as error:
        scheme, is_url, _ = ledger.partition("://")
        if (
            not is_url
            or re.search(r"No FileSystem for scheme|ClassNotFoundException: Class \S+FileSystem not found", str(error)) is None
        ):
            raise
        settings = FILE_SYSTEMS.get(scheme)
        how = f": start it with {settings}" if settings else ""
        raise mksum.RefusedError(f"{ledger}: this Spark has no file system for '{scheme}'{how}") from None


def _grouped(inputs: DataFrame, rows: DataFrame | None) -> DataFrame:
    """Inputs and rows of a ledger, those of one input beside each other in a partition: the input first, then its rows."""
    found = inputs.select("path", "size", "version", "status", "error")
    if rows is None:
        names = [field.split()[0] for field in f"{KNOWN}, {ERRORS}".split(", ")]
        return found.select(*found.columns, *(F.lit(None).alias(name) for name in names if name not in found.columns))
    # Of inputs that are asked for; digests of others would only be moved.
    wanted = rows.join(inputs.select("path"), "path", "left_semi")
    found = found.unionByName(wanted, allowMissingColumns=True)
    return found.repartition("path").sortWithinPartitions("path", F.col("offset").asc_nulls_first())


def _each_input(batches: Batches) -> Iterator[tuple[Listed, list[dict[str, Any]]]]:
    """Yields each input and its rows."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, group in itertools.groupby(rows, lambda row: row["path"]):
        several = list(group)
        heads: list[Any] = [row for row in several if row["offset"] is None]
        if heads:
            yield functools.reduce(cluster.one_of, heads), [row for row in several if row["offset"] is not None]


def _missing(batches: Batches, fmt: str, part: int, task: int) -> Batches:
    """The tasks for what the ledger lacks."""
    wanted = ((item, cluster.missing(item, fmt, part, rows)) for item, rows in _each_input(batches))
    for spans in cluster.packed(wanted, task):
        plain = [{**span, "parts": [dict(zip(BOUND, one, strict=True)) for one in span["parts"]]} for span in spans]
        yield from _batches([{"spans": plain}], TASKS)


def _tasks(batches: Batches) -> Iterator[list[Span]]:
    """The tasks in batches."""
    for row in itertools.chain.from_iterable(batch.to_pylist() for batch in batches):
        spans: Any = [{**span, "parts": [cluster.bounds(one) for one in span["parts"]]} for span in row["spans"]]
        yield spans


def _worked(
    batches: Batches,
    ledger: Ledger,
    fmt: str,
    run: str,
    kind: str,
    threads: int | None,
    files: Any,
    done: Done | None,
) -> Batches:
    """Hashes tasks and writes each one's rows to the ledger. Yields nothing."""
    _spare_modules()
    for spans in _tasks(batches):
        with _measured(done):
            count = cluster.work(spans, ledger, run, kind, fmt, threads, files)
        if done is not None:
            done({"done": count})
    yield from ()


@contextlib.contextmanager
def _measured(done: Done | None) -> Iterator[None]:
    """Reports the figures of a block in a worker: a process that runs one task at a time."""
    with mksum.measured("task") as figures:
        yield
    if done is not None:
        done(figures)


@functools.cache
def _spare_modules() -> None:
    """Takes what is loaded out of later garbage collections, once in a process.

    Spark's daemon for Python collects all garbage after each task: 25 ms with the modules of pandas and pyarrow.
    """
    gc.freeze()


def _hashed(batches: Batches, fmt: str, run: str, kind: str, threads: int | None, files: Any, done: Done | None) -> Batches:
    """The rows of the ledger for tasks, which Spark writes."""
    for spans in _tasks(batches):

        def rows(spans: list[Span] = spans) -> Iterator[dict[str, Any]]:
            for found in cluster.read_in(run, cluster.hashed(spans, fmt, threads=threads, files=files)):
                if done is not None and "error" not in found:
                    done({"done": found["length"]})
                yield {**found, "rows": "errors" if "error" in found else kind}

        with _measured(done):
            yield from _batches(rows(), f"{ROWS}, {ERRORS}, rows string")


def _joined(batches: Batches, fmt: str, part: int, run: str) -> Batches:
    """The result of each input."""
    results = (
        cluster.joined(item, fmt, part, run, [row for row in rows if row["error"] is None], [row for row in rows if row["error"]])
        for item, rows in _each_input(batches)
    )
    return _batches(results, RESULTS)


def _each(batches: Batches, call: Callable[[dict[str, Any]], Result]) -> Batches:
    """The result of a call for each row."""
    return _batches((call(row) for batch in batches for row in batch.to_pylist()), RESULTS)


def _compared(row: dict[str, Any]) -> Result:
    kept = row.pop("kept")
    return cluster.compared(row, kept)  # type: ignore[arg-type]


def _batches(rows: Iterable[Any], schema: str) -> Batches:
    """Rows as Arrow batches with these columns."""
    wanted = _arrow(schema)
    left = iter(rows)
    while several := list(itertools.islice(left, BATCH)):
        yield pa.RecordBatch.from_pylist(several, schema=wanted)


@functools.cache
def _arrow(schema: str) -> Any:
    """The Arrow schema for one of Spark's, as far as this module needs it."""
    if schema == TASKS:
        bounds = pa.struct([("offset", pa.int64()), ("length", pa.int64()), ("level", pa.int32())])
        span = pa.struct([("path", pa.string()), ("version", pa.string()), ("size", pa.int64()), ("parts", pa.list_(bounds))])
        return pa.schema([("spans", pa.list_(span))])
    types = {"string": pa.string(), "bigint": pa.int64(), "int": pa.int32()}
    return pa.schema([(name, types[kind]) for name, kind in (field.split() for field in schema.split(", "))])


class _Sums(AccumulatorParam[dict[str, float]]):
    """Adds figures by their names."""

    def zero(self, value: dict[str, float]) -> dict[str, float]:
        return dict.fromkeys(value, 0)

    def addInPlace(self, value1: dict[str, float], value2: dict[str, float]) -> dict[str, float]:
        # Another thread reads the old ones.
        return {name: value1.get(name, 0) + value2.get(name, 0) for name in {**value1, **value2}}


class _Progress:
    """Tells how far a job is, from an accumulator."""

    def __init__(self, spark: SparkSession, on_progress: Callable[[int], object] | None, on_metrics: OnMetrics | None) -> None:
        self.on_progress, self.on_metrics, self.told, self.ended = on_progress, on_metrics, 0, threading.Event()
        self.done: Done | None = None
        if on_progress is not None or on_metrics is not None:
            try:
                self.sums = spark.sparkContext.accumulator(dict[str, float](), _Sums())
            except PySparkException:
                words = (
                    "a Connect session has no accumulators: use spark.addProgressHandler instead of on_progress and on_metrics"
                )
                raise mksum.RefusedError(words) from None
            self.done = self.sums.add

    def __enter__(self) -> "_Progress":
        self.thread = threading.Thread(target=self._run, daemon=True)
        if self.done is not None:
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.done is not None:
            self.thread.join()
            self._tell()

    def _run(self) -> None:
        while not self.ended.wait(1):
            self._tell()

    def _tell(self) -> None:
        sums = self.sums.value
        now = int(sums.get("done", 0))
        if self.on_progress is not None and now > self.told:
            self.on_progress(now - self.told)
            self.told = now
        if self.on_metrics is not None:
            found: Any = {name: sums.get(name, 0) for name in Metrics.__annotations__}
            self.on_metrics(found)


__all__ = ["MksumSource", "hash", "register", "table", "verify"]
