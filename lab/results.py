#!/usr/bin/env python3
"""One format for the results of every benchmark (lab/README.md tells it): written, read and checked here.

results.py --check [FILE …]    all files of lab/results, or these, are in the format
results.py --csv FILE          its rows as CSV
"""

import csv, datetime, json, os, pathlib, platform, re, subprocess, sys

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
HEAD = ("suite", "date", "machine", "cases", "columns")
COLUMNS = ("case", "subject", "median", "least", "most", "trials")


def machine():
    """What figures depend on."""
    told = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", told)
    has = [name for name in ("avx2", "avx512f", "sha_ni") if f" {name} " in told]
    return {
        "cpu": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "has": has,
        "system": platform.platform(terse=True),
        "load_1min": round(os.getloadavg()[0], 2),
    }


def today():
    return datetime.date.today().isoformat()


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def path(suite, where, date):
    name = slug(f"{where['cpu']} {where['cores']} cores")
    return RESULTS / f"{suite}-{name}-{date}.json"


def commit():
    return subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=RESULTS.parent, capture_output=True, text=True
    ).stdout.strip()


def write(suite, cases, rows, to=None, **more):
    """Writes rows (dictionaries) of a suite measured now on this machine; returns the head with `rows`, and the path.

    `cases` tells of each case the `unit` of its figures, and what `x` is where it has one. `more` goes into the head.
    """
    head = {"suite": suite, "date": today(), "machine": machine(), "commit": commit(), **more, "cases": cases}
    to = to or path(suite, head["machine"], head["date"])
    save(to, head, rows)
    return {**head, "rows": rows}, to


def save(to, head, rows):
    columns = list(
        dict.fromkeys(
            [
                *COLUMNS[:2],
                *(["x"] if any("x" in row for row in rows) else []),
                *COLUMNS[2:],
                *(name for row in rows for name in row),
            ]
        )
    )
    lines = [
        f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},"
        for name, value in {**head, "columns": columns}.items()
        if name != "rows"
    ]
    cells = [json.dumps([rounded(row.get(name)) for name in columns], ensure_ascii=False) for row in rows]
    to.parent.mkdir(exist_ok=True)
    to.write_text("{\n" + "\n".join(lines) + '\n "rows": [\n  ' + ",\n  ".join(cells) + "\n ]\n}\n")


def rounded(value):
    return float(f"{value:.9g}") if isinstance(value, float) else value


def read(file):
    """The head, with `rows` as dictionaries."""
    told = json.loads(pathlib.Path(file).read_text())
    return {**told, "rows": [dict(zip(told["columns"], row)) for row in told["rows"]]}


def newest(pattern):
    """The last results by date whose names match."""
    return max(RESULTS.glob(pattern), key=lambda file: (file.stem[-10:], file.name), default=None)


def faults(file):
    """What is wrong with a file of results."""
    try:
        told = json.loads(pathlib.Path(file).read_text())
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    for name in HEAD:
        if name not in told:
            yield f"no {name!r}"
            return
    columns = told["columns"]
    for name in COLUMNS:
        if name not in columns:
            yield f"no column {name!r}"
            return
    for number, row in enumerate(told["rows"]):
        if len(row) != len(columns):
            yield f"row {number}: {len(row)} cells, expected {len(columns)}"
            continue
        row = dict(zip(columns, row))
        if row["case"] not in told["cases"]:
            yield f"row {number}: case {row['case']!r} is not among 'cases'"
        elif "unit" not in told["cases"][row["case"]]:
            yield f"case {row['case']!r} has no unit"
        elif not row["least"] <= row["median"] <= row["most"] or row["trials"] < 1:
            spread = f"{row['least']} ≤ {row['median']} ≤ {row['most']}"
            yield f"row {number}: {spread} of {row['trials']} trials does not hold"


def main():
    if sys.argv[1:2] == ["--check"]:
        files = sys.argv[2:] or sorted(RESULTS.glob("*.json"))
        wrong = [f"{file}: {fault}" for file in files for fault in faults(file)]
        print("\n".join(wrong) if wrong else f"{len(files)} files of results are in the format")
        sys.exit(bool(wrong) or not files)
    elif sys.argv[1:2] == ["--csv"] and len(sys.argv) == 3:
        told = json.loads(pathlib.Path(sys.argv[2]).read_text())
        csv.writer(sys.stdout, lineterminator="\n").writerows([told["columns"], *told["rows"]])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
