#!/usr/bin/env python3
"""Tests mksum.spark.table with tables of the released Iceberg and Delta on this machine.

    tables.py --jars FOLDER [TEST…]

Run it with a Python that has mksum and the PySpark that the jars are for. Rows are added and deleted, and files decay and go.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest
import warnings

import mksum
import mksum.spark
from bits import flip
from pyspark.sql import SparkSession

FORMAT = "blake3"
VALUES = "(1, 'a b'), (2, 'x/y%z'), (3, 'ü'), (4, 'a b')"

flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("--jars", type=pathlib.Path, required=True)


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
        # Hadoop, Parquet and others come with Spark.
        jars = [str(path) for name in ("delta-*", "iceberg-*", "unitycatalog-*") for path in CHOSEN.jars.glob(f"{name}.jar")]
        iceberg, delta = "org.apache.iceberg.spark", "org.apache.spark.sql.delta"
        options = {
            "spark.jars": ",".join(jars),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(cls.folder / "of delta"),
            "spark.sql.extensions": f"{iceberg}.extensions.IcebergSparkSessionExtensions,io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": f"{delta}.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions": "1",
            "spark.sql.catalog.ice": f"{iceberg}.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": str(cls.folder / "of iceberg"),
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in options.items():
            builder = builder.config(name, value)
        cls.session = builder.getOrCreate()
        cls.addClassCleanup(cls.session.stop)
        cls.session.sparkContext.setLogLevel("OFF")

    def hashed(self, name, ledger):
        frame = mksum.spark.hash(self.session, mksum.spark.table(self.session, name), str(ledger), FORMAT)
        results = {row.object: row.asDict() for row in frame.collect()}
        self.assertEqual({row["status"] for row in results.values()}, {"ok"}, results)
        roots = {path: mksum.file_root(path, FORMAT).text for path in results}
        self.assertEqual({path: row["root"] for path, row in results.items()}, roots)
        return results

    def verified(self, kept, ledger):
        frame = self.session.createDataFrame(list(kept.values()), mksum.spark.RESULTS)
        found = mksum.spark.verify(self.session, frame, str(ledger))
        return {row.object: row.status for row in found.collect()}

    def decay_of(self, name, place, kept, ledger):
        """A file has decayed, and another one is gone."""
        first, second = sorted(kept)[:2]
        flip(first, -1, hidden=True)
        os.unlink(second)
        expected = {path: {first: "damaged", second: "gone"}.get(path, "ok") for path in kept}
        self.assertEqual(self.verified(kept, ledger), expected)
        # The table names a file that is not there.
        frame = mksum.spark.hash(self.session, mksum.spark.table(self.session, name), str(place), FORMAT)
        [gone] = [row for row in frame.collect() if row.status != "ok"]
        self.assertEqual((gone.object, gone.status, gone.root), (second, "gone", None))
        self.assertIn("it is not there", gone.error)

    def test_iceberg(self):
        name, place, ledger = "ice.db.t", self.folder / "of iceberg" / "db" / "t" / "data", self.folder / "ledger of iceberg"
        properties = "'format-version' = '3', 'write.delete.mode' = 'merge-on-read'"
        self.session.sql(f"CREATE TABLE {name} (id int, p string) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ({properties})")
        with self.assertRaisesRegex(ValueError, "nothing to hash"):
            self.hashed(name, ledger)
        self.session.sql(f"INSERT INTO {name} VALUES {VALUES}")
        kept = self.hashed(name, ledger)
        self.assertEqual(set(kept), {str(path) for path in place.rglob("*.parquet")})
        # Deletes are files as well; no other is read again.
        self.session.sql(f"DELETE FROM {name} WHERE id = 4")
        results = self.hashed(name, ledger)
        self.assertEqual({pathlib.Path(path).suffix for path in results.keys() - kept.keys()}, {".puffin"})
        times = {path: row["verified_at"] for path, row in kept.items()}
        self.assertEqual({path: results[path]["verified_at"] for path in kept}, times)
        self.assertEqual(set(self.verified(results, ledger).values()), {"ok"})
        self.decay_of(name, self.folder / "other ledger of iceberg", kept, ledger)
        # The metadata has the sizes.
        path = max(kept)
        with open(path, "ab") as file:
            file.write(b"\0")
        frame = mksum.spark.hash(self.session, mksum.spark.table(self.session, name), str(ledger), FORMAT)
        [longer] = [row for row in frame.collect() if row.object == path]
        self.assertIn(f"listed with {kept[path]['size']} bytes, and has {kept[path]['size'] + 1}", longer.error)

    def test_delta(self):
        place, ledger = self.folder / "of delta" / "d", self.folder / "ledger of delta"
        self.session.sql("CREATE TABLE d (id int, p string) USING delta PARTITIONED BY (p)")
        self.session.sql(f"INSERT INTO d VALUES {VALUES}")
        kept = self.hashed("d", ledger)
        self.assertEqual(set(kept), {str(path) for path in place.rglob("*.parquet")})
        # Files of older versions are no files of the table.
        self.session.sql("DELETE FROM d WHERE p = 'a b'")
        results = self.hashed(f"delta.`{place}`", ledger)
        self.assertEqual(results.keys(), {path for path in kept if "a b" not in path})
        self.assertEqual(set(self.verified(kept, ledger).values()), {"ok"})
        self.decay_of("d", self.folder / "other ledger of delta", results, ledger)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    CHOSEN, rest = flags.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2, warnings="ignore")
