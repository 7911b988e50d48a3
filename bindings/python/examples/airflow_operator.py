"""Airflow: an operator that hashes objects and keeps their roots, and one that reads every byte again.

    KeepRoots(task_id="keep", source="s3://bucket/day={{ ds }}/", ledger="s3://other/ledger", kept="s3://other/kept") >> …
    VerifyRoots(task_id="verify", kept="s3://other/kept", ledger="s3://other/ledger", retries=3)

For a cluster, call `hash` and `verify` of `mksum.dask`, `mksum.ray` or `mksum.spark` in their place.
"""

# The context of a running task has all fields.
# pyright: reportTypedDictNotRequiredAccess=false

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import mksum.cluster
import mksum.tables
from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from mksum.cluster import Result


class KeepRoots(BaseOperator):
    """Hashes all objects of a source; those whose digests are in the ledger are not read. Returns the run of the roots.

    Args:
        source: A folder, or the URL of a prefix.
        ledger: The folder or URL for the digests of parts.
        kept: The folder or URL for the roots.
        fmt: The format of the roots.
        arguments: Those of `BaseOperator`.
    """

    template_fields: Collection[str] = ("source", "ledger", "kept", "fmt")

    def __init__(self, *, source: str, ledger: str, kept: str, fmt: str = "blake3", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.source, self.ledger, self.kept, self.fmt = source, ledger, kept, fmt

    def execute(self, context: Context) -> str:
        """Hashes, and fails if an object has no root; the next try reads what is missing."""
        results = mksum.cluster.hash(self.source, self.ledger, self.fmt)
        judge(self, results)
        mksum.tables.write_results(results, self.kept)
        return results[0]["run"]


class VerifyRoots(BaseOperator):
    """Reads objects again, and compares their roots with those that were kept. Returns the number of objects.

    Args:
        kept: The folder or URL with the roots.
        ledger: The folder or URL for what was read: the next try of a task goes on there.
        kept_run: The only run whose roots are compared, as `KeepRoots` returns it; all, if it is None.
        arguments: Those of `BaseOperator`.
    """

    template_fields: Collection[str] = ("kept", "ledger", "kept_run")

    def __init__(self, *, kept: str, ledger: str, kept_run: str | None = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.kept, self.ledger, self.kept_run = kept, ledger, kept_run

    def execute(self, context: Context) -> int:
        """Verifies, and fails unless every object is as it was. Damage is no reason for another try."""
        task = context["ti"]
        # The same for all tries, and another one after the task was cleared, which raises the number of tries.
        run = f"{context['run_id']} {task.task_id} {task.map_index} {task.max_tries}"
        results = mksum.cluster.verify(mksum.tables.read_results(self.kept, run=self.kept_run), self.ledger, run=run)
        judge(self, results)
        return len(results)


def judge(operator: BaseOperator, results: Sequence[Result]) -> None:
    """Logs what is wrong, and raises if anything is.

    Raises:
        AirflowException: Objects could not be read: the task is tried again.
        AirflowFailException: Objects are not as they were.
    """
    for result in results:
        if result["status"] != "ok":
            operator.log.error("%s: %s", result["status"], result["error"])
    counts = Counter(result["status"] for result in results)
    words = ", ".join(f"{count} {status}" for status, count in counts.items())
    if counts["failed"] or counts["unfinished"]:
        raise AirflowException(words)
    if counts["ok"] != len(results):
        raise AirflowFailException(words)
