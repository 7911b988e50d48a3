"""The recipes of examples/ for orchestrators, run by the released Dagster and Airflow."""

import os
import pathlib
import subprocess
import sys

import mksum
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))
SECONDS = 600
"""The most that a command of Airflow may take, so that one that hangs fails."""


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    (source := tmp_path / "nightly").mkdir()
    (source / "a").write_bytes(b"abc")
    (source / "b").write_bytes(bytes(1_000_000))
    return source


def decay(path: pathlib.Path) -> None:
    """Changes the first byte of a file, which shows in neither its length nor its time."""
    before, content = path.stat(), bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


# Dagster's own.
@pytest.mark.filterwarnings("ignore")
def test_an_asset_check_of_dagster(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    import dagster
    from dagster_check import content_check, materialized

    ledger, kept = str(tmp_path / "ledger"), str(tmp_path / "kept")

    @dagster.asset
    def nightly() -> dagster.MaterializeResult:
        return materialized(str(source), ledger, kept)

    check = content_check(nightly, ledger, kept)
    with dagster.DagsterInstance.ephemeral() as instance:

        def checked(selection: dagster.AssetSelection | None) -> dagster.AssetCheckEvaluation:
            run = dagster.materialize([nightly, check], instance=instance, selection=selection, raise_on_error=False)
            [evaluation] = run.get_asset_check_evaluations()
            return evaluation

        alone = dagster.AssetSelection.checks(check)
        before = checked(alone)
        assert (before.passed, before.description) == (False, "no materialization has kept roots")
        first = checked(None)
        assert first.passed
        assert (first.metadata["objects_ok"].value, first.metadata["bytes"].value) == (2, 1_000_003)
        assert checked(alone).passed
        decay(source / "a")
        (source / "b").unlink()
        last = checked(alone)
        assert not last.passed
        assert (last.metadata["objects_damaged"].value, last.metadata["objects_gone"].value) == (1, 1)
        assert any(f"its root was {mksum.root(b'abc', 'blake3')} and is" in error for error in last.metadata["errors"].value)


DAG = """
from airflow.sdk import DAG
from airflow_operator import KeepRoots, VerifyRoots

with DAG("nightly", schedule=None) as dag:
    places = {{"ledger": "{top}/ledger", "kept": "{top}/kept"}}
    keep = KeepRoots(task_id="keep", source="{top}/{{{{ dag.dag_id }}}}", **places)
    verify = VerifyRoots(task_id="verify", kept_run="{{{{ ti.xcom_pull('keep') }}}}", **places)
    keep >> verify

with DAG("audit", schedule=None) as audit:
    VerifyRoots(task_id="verify", **places)
"""


def test_operators_of_airflow(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (dags := tmp_path / "dags").mkdir()
    (dags / "dags.py").write_text(DAG.format(top=tmp_path))
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PYTHONPATH": os.pathsep.join([str(EXAMPLES), *sys.path]),
    }

    def airflow(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "airflow", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)

    for words in [("db", "migrate"), ("dags", "reserialize")]:
        done = airflow(*words)
        assert done.returncode == 0, done.stderr[-3000:]
    done = airflow("dags", "test", "nightly")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    decay(source / "a")
    done = airflow("dags", "test", "audit")
    told = done.stdout + done.stderr
    assert done.returncode != 0, told[-3000:]
    assert f"{source}/a: its root was {mksum.root(b'abc', 'blake3')} and is" in told
    assert "1 damaged" in told
