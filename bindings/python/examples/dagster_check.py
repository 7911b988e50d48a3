"""Dagster: an asset whose roots are kept, and an asset check that reads every byte of it again.

The check fails where an object is damaged, replaced, gone or cannot be read, and says which. For a cluster, call `hash` and
`verify` of `mksum.dask`, `mksum.ray` or `mksum.spark` in their place.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import dagster
import mksum.cluster
import mksum.tables
from mksum.cluster import Result

RUN = "mksum_run"
"""The name in the metadata of a materialization under which it has the run of its roots."""


def materialized(source: str, ledger: str, kept: str, fmt: str = "blake3") -> dagster.MaterializeResult[Any]:
    """Hashes what an asset has written, and keeps the roots: what the asset's function returns at its end.

    Args:
        source: A folder, or the URL of a prefix.
        ledger: The folder or URL for the digests of parts: what is unchanged is not read again.
        kept: The folder or URL for the roots.
        fmt: The format of the roots.

    Raises:
        dagster.Failure: An object has no root.
    """
    results = mksum.cluster.hash(source, ledger, fmt)
    if any(result["status"] != "ok" for result in results):
        raise dagster.Failure("some objects have no root", metadata=_metadata(results))
    mksum.tables.write_results(results, kept)
    return dagster.MaterializeResult(metadata={RUN: results[0]["run"], **_metadata(results)})


def content_check(asset: dagster.AssetsDefinition, ledger: str, kept: str) -> dagster.AssetChecksDefinition:
    """Returns a check that an asset is as its last materialization left it.

    Args:
        asset: The asset, whose function returns `materialized(…)`.
        ledger: A folder or URL for what the check has read: a step that is tried again goes on there.
        kept: The folder or URL with the roots.
    """

    @dagster.asset_check(asset=asset, name="content_is_as_kept", blocking=True)
    def check(context: dagster.AssetCheckExecutionContext) -> dagster.AssetCheckResult:
        event = context.instance.get_latest_materialization_event(asset.key)
        found = event and event.asset_materialization and event.asset_materialization.metadata.get(RUN)
        if not found:
            return dagster.AssetCheckResult(passed=False, description="no materialization has kept roots")
        before = mksum.tables.read_results(kept, run=str(found.value))
        results = mksum.cluster.verify(before, ledger, run=f"{context.run.run_id} {asset.key.to_user_string()}")
        passed = all(result["status"] == "ok" for result in results)
        return dagster.AssetCheckResult(passed=passed, metadata=_metadata(results))

    return check


def _metadata(results: Iterable[Result]) -> dict[str, Any]:
    """The number of objects with each status, their bytes, and the first errors."""
    results = list(results)
    errors = [str(result["error"]) for result in results if result["status"] != "ok"]
    counts = {f"objects_{status.replace(' ', '_')}": count for status, count in Counter(row["status"] for row in results).items()}
    return {**counts, "bytes": sum(result["size"] for result in results), "errors": errors[:10]}
