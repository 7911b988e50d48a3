#!/usr/bin/env python3
"""Writes, reads and checks the results of all benchmarks. lab/README.md documents the format and the rule for keeping them.

results.py --check     checks lab/results, the figures, and the tables of the pages against the rule
results.py --csv FILE  prints the rows of a file as CSV
"""

import csv
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

LAB = pathlib.Path(__file__).resolve().parent
ROOT = LAB.parent
RESULTS = LAB / "results"
HEAD = ("suite", "date", "machine", "cases", "columns", "rows")
COLUMNS = ("case", "subject", "median", "least", "most", "trials")
MACHINE = ("vendor", "family_model", "cpu", "cores")
SERIES = 2  # the columns that all rows of a line share: case and subject

# The rule's limits, in bytes. A machine's limit is for all of its results together.
FILE_LIMIT, MACHINE_LIMIT, FIGURE_LIMIT, FIGURES_LIMIT = 400_000, 1_800_000, 250_000, 800_000

# Vendor, family and model identify a chip: virtual machines often report no more of its name than "Xeon Processor".
CHIPS = json.loads((LAB / "chips.json").read_text())
VENDORS = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}


def machine():
    """Returns what figures depend on: the chip, the cores, the system and its load."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    fields = dict(re.findall(r"^(vendor_id|cpu family|model|model name|flags)\s*: (.*)$", info, re.M))
    vendor = fields.get("vendor_id", platform.machine())
    return {
        "cpu": fields.get("model name", platform.processor()),
        "vendor": VENDORS.get(vendor, slug(vendor)),
        "family_model": [int(fields.get("cpu family", 0)), int(fields.get("model", 0))],
        "cores": os.cpu_count(),
        "has": [name for name in ("avx2", "avx512f", "sha_ni") if name in fields.get("flags", "").split()],
        "system": platform.platform(terse=True),
        "load_1min": round(os.getloadavg()[0], 2),
    }


def chip(where):
    return "-".join(map(str, (where["vendor"], *where["family_model"])))


def title(where):
    """Returns the name of a machine in tables and figures."""
    name = CHIPS.get(chip(where)) or "{} {}-{}".format(where["vendor"].capitalize(), *where["family_model"])
    return f"{name}, {where['cores']} cores"


def today():
    return datetime.date.today().isoformat()


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def path(suite, where, engine=None):
    """Returns the file of a suite's results on a machine (and engine). It has no date, so that new results replace old ones."""
    return RESULTS / ("-".join(filter(None, (suite, chip(where), f"{where['cores']}-cores", engine))) + ".json")


def commit():
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, check=False, cwd=LAB, capture_output=True, text=True).stdout.strip()


def write(suite, cases, rows, to=None, **more):
    """Writes rows (dictionaries) of a suite measured now on this machine. Returns the head with `rows`, and the path.

    `cases` maps each case to the `unit` of its figures, and to the meaning of `x` if it has one. `more` is added to the head.
    """
    head = {"suite": suite, "date": today(), "machine": machine(), "commit": commit(), **more, "cases": cases}
    to = to or path(suite, head["machine"])
    save(to, head, rows)
    return {**head, "rows": rows}, to


def save(to, head, rows):
    names = [name for row in rows for name in row]
    columns = list(dict.fromkeys([*COLUMNS[:SERIES], *(["x"] if "x" in names else []), *COLUMNS[SERIES:], *names]))
    series = {}
    for row in rows:
        cells = [rounded(row.get(name)) for name in columns]
        series.setdefault(tuple(cells[:SERIES]), []).append(cells[SERIES:])
    lines = [f" {encoded(name)}: {encoded(value)}," for name, value in {**head, "columns": columns}.items() if name != "rows"]
    lines += [' "series": [', ",\n".join(f"  {encoded([*key, *own])}" for key, own in series.items()), " ]"]
    to.parent.mkdir(exist_ok=True)
    to.write_text("{\n" + "\n".join(lines) + "\n}\n")


def encoded(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def rounded(value):
    """Rounds to five digits: no measurement here is more precise."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def read(file):
    """Returns the head of a file, with `rows` as dictionaries."""
    head = json.loads(pathlib.Path(file).read_text())
    columns = head["columns"]
    rows = [[*series[:SERIES], *cells] for series in head.pop("series") for cells in series[SERIES:]]
    return {**head, "file": pathlib.Path(file).name, "rows": [dict(zip(columns, row, strict=True)) for row in rows]}


def of(suite):
    """Returns all results of a suite, one for each machine (and engine), the newest first."""
    found = [read(file) for file in sorted(RESULTS.glob(f"{suite}-*.json"))]
    return sorted(found, key=lambda result: result["date"], reverse=True)


def fill(page, parts, write):
    """Replaces the parts of a page between their marks. Returns the names of the parts that differ."""
    text, differing = page.read_text(), []
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if begin not in text or end not in text:
            sys.exit(f"{page}: expected {begin.strip()} and {end}")
        before, rest = text.split(begin, 1)
        old, after = rest.split(end, 1)
        if old != content + "\n":
            differing.append(name)
        text = before + begin + content + "\n" + end + after
    if write:
        page.write_text(text)
    return differing


# ---- The rule --------------------------------------------------------------------------------------------------------


def faults(file):
    """Yields what is wrong with a file of results."""
    try:
        result = read(file)
    except (ValueError, KeyError) as error:
        yield f"not in the format: {error!r}"
        return
    missing = [name for name in HEAD if name not in result] + [name for name in COLUMNS if name not in result["columns"]]
    missing += [name for name in MACHINE if name not in result.get("machine", {})]
    if missing:
        yield f"missing: {', '.join(missing)}"
        return
    expected = path(result["suite"], result["machine"], result.get("engine", {}).get("name")).name
    if file.name != expected:
        yield f"expected the name {expected}: one file for each suite and machine"
    if file.stat().st_size > FILE_LIMIT:
        yield f"{file.stat().st_size} bytes, more than {FILE_LIMIT}: measure fewer points"
    for number, row in enumerate(result["rows"]):
        if row["case"] not in result["cases"] or "unit" not in result["cases"][row["case"]]:
            yield f"row {number}: case {row['case']!r} has no unit in 'cases'"
        elif not row["least"] <= row["median"] <= row["most"] or row["trials"] < 1:
            yield f"row {number}: expected {row['least']} ≤ {row['median']} ≤ {row['most']}, and trials, found {row['trials']}"


def tracked(*patterns):
    """Returns the files of the repository that match, without ignored files."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def violations(files, pages, figures):
    """Yields what the rule in lab/README.md forbids, except faults of a single file."""
    text = {page: page.read_text() for page in pages}
    machines = {}
    for file in files:
        where = read(file)["machine"]
        machines[title(where)] = machines.get(title(where), 0) + file.stat().st_size
        if not any(file.name in words for words in text.values()):
            yield f"{file.name}: no page cites it"
    for name, size in machines.items():
        if size > MACHINE_LIMIT:
            yield f"{name}: {size} bytes of results, more than {MACHINE_LIMIT}"
    for figure in figures:
        if not any(re.search(rf"!\[[^\]]*\]\([^)]*{re.escape(figure.name)}\)", words) for words in text.values()):
            yield f"{figure.name}: no page shows it"
        if figure.stat().st_size > FIGURE_LIMIT:
            yield f"{figure.name}: {figure.stat().st_size} bytes, more than {FIGURE_LIMIT}"
    if (size := sum(figure.stat().st_size for figure in figures)) > FIGURES_LIMIT:
        yield f"{size} bytes of figures, more than {FIGURES_LIMIT}"
    known = {file.name for file in files}
    for page, words in text.items():
        for name in re.findall(r"results/([\w-]+\.json)", words):
            if name not in known:
                yield f"{page.relative_to(ROOT)}: cites {name}, which does not exist"


def check():
    """Returns all errors: faults of files, violations of the rule, and tables of pages that differ from the results."""
    files = sorted(RESULTS.glob("*.json"))
    errors = [f"{file.name}: {fault}" for file in files for fault in faults(file)]
    if not files or errors:
        return files, errors or ["no results"]
    errors += violations(files, tracked("*.md"), tracked("lab/js/figures", "docs/speed.svg"))
    for script in ("tables.py", "js/tables.py"):
        done = subprocess.run([sys.executable, LAB / script, "--check"], check=False, capture_output=True, text=True)
        if done.returncode:
            errors.append((done.stdout + done.stderr).strip())
    return files, errors


def main():
    if sys.argv[1:] == ["--check"]:
        files, errors = check()
        print("\n".join(errors) or f"{len(files)} files of results keep the rule")
        sys.exit(bool(errors))
    elif sys.argv[1:2] == ["--csv"] and len(sys.argv) == 3:
        result = read(sys.argv[2])
        rows = [row.values() for row in result["rows"]]
        csv.writer(sys.stdout, lineterminator="\n").writerows([result["columns"], *rows])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
