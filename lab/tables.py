#!/usr/bin/env python3
"""Writes the tables of lab/README.md from the newest results of each machine, which stand side by side.

tables.py            writes the tables
tables.py --check    changes nothing; fails if a table differs from the results
"""

import pathlib
import sys

import results

PAGE = pathlib.Path(__file__).resolve().parent / "README.md"
LARGEST = 1 << 25  # the leaves of the node trees in the table


def markdown(head, rows):
    """Returns a table whose first column is text and whose others are figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sources(found):
    """Returns a list of the machines, with links to their results."""
    lines = []
    for result in found:
        where = result["machine"]
        facts = [f"{where['cpu']} ({', '.join(where['has'])})", where["system"], result["date"]]
        if "commit" in result:
            facts.append(f"commit {result['commit']}")
        if "versions" in result:
            facts.append(", ".join(result["versions"].values()))
        lines.append(f"- [{results.title(where)}](results/{result['file']}): {'; '.join(facts)}")
    return "\n".join(lines)


def side_by_side(found, label, key, columns, extra=()):
    """Returns a table with a row for each `key(row)`, and the same columns for each machine.

    Each of `columns` is a heading and a function from a row of results to a cell. So is each of `extra`, whose cells are the
    same for all machines. A column holds figures of one machine only, because it is filled from one file of results.
    """
    own = [{key(row): row for row in result["rows"]} for result in found]
    names = list(dict.fromkeys(name for rows in own for name in rows))
    head = [label, *(heading for heading, _ in extra)]
    for result in found:
        head += [f"{results.title(result['machine'])}: {columns[0][0]}", *(heading for heading, _ in columns[1:])]
    lines = []
    for name in names:
        shared = next(rows[name] for rows in own if name in rows)
        line = [cell(shared) for _, cell in extra]
        for rows in own:
            line += [cell(rows[name]) if name in rows else "–" for _, cell in columns]
        lines.append([name, *line])
    return markdown(head, lines)


def only(found, wanted):
    """Returns the results with the wanted rows only, without machines that have none."""
    own = [{**result, "rows": [row for row in result["rows"] if wanted(row)]} for result in found]
    return [result for result in own if result["rows"]]


def number(value):
    """Formats a figure with three digits, or as an integer with separators."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def seconds(value):
    return f"{number(value)} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


# ---- The tables of each suite ----------------------------------------------------------------------------------------


def files():
    return by_case("files")


def many():
    return by_case("many")


def directories():
    return by_case("directories")


def formats():
    """Returns one table of all cases."""
    found = results.of("formats")
    columns = [("GB/s (least–most)", rates), ("CPU s", lambda row: f"{row['cpu_seconds']:.3f}"),
               ("against the other program", lambda row: f"{row['ratio_to_first']:.2f}×")]
    return f"{sources(found)}\n\n{side_by_side(found, 'command', lambda row: row['subject'], columns)}" if found else ""


def by_case(suite):
    """Returns a table for each case of a suite whose rows have an amount and a ratio to the first subject."""
    found = results.of(suite)
    parts = [sources(found)]
    for case in dict.fromkeys(row["case"] for result in found for row in result["rows"]):
        sample = next(row for result in found for row in result["rows"] if row["case"] == case)
        columns = [
            (f"{sample['amount_unit']}/s (least–most)", rates),
            ("CPU s", lambda row: f"{row['cpu_seconds']:.3f}"),
            (f"against {sample['subject']}", lambda row: f"{row['ratio_to_first']:.2f}×"),
        ]
        own = only(found, lambda row, case=case: row["case"] == case)
        parts.append(f"### {case}\n\n" + side_by_side(own, "command", lambda row: f"`{row['subject']}`", columns))
    return "\n\n".join(parts)


def rates(row):
    """Formats the rate of a row; the lowest rate belongs to the longest time."""
    median, least, most = (number(row["amount"] / row[name]) for name in ("median", "most", "least"))
    return f"{median} ({least}–{most})"


def kept():
    found = results.of("kept")

    def figure(row):
        if found[0]["cases"][row["case"]]["unit"] == "%":
            median, least, most = (f"{row[name]:.1f}".replace("-", "−") for name in ("median", "least", "most"))
            return f"{median} % ({least} to {most})"
        return f"{seconds(row['median'])} ({seconds(row['least'])}–{seconds(row['most'])})"

    columns, goal = [("median (least–most)", figure)], ("goal", lambda row: row["goal"])
    return f"{sources(found)}\n\n{side_by_side(found, 'case', lambda row: row['case'], columns, [goal])}"


def repair():
    found = results.of("repair")

    def figure(row):
        return f"{seconds(row['median'])} ({seconds(row['least'])}–{seconds(row['most'])})"

    columns = [
        ("median (least–most)", figure),
        ("bytes fetched", lambda row: f"{row['fetched']:,} of {row['damaged']:,} damaged" if row["fetched"] else "–"),
    ]
    table = side_by_side(found, "case", lambda row: f"{row['case']}, file of {row['mib']:,} MiB", columns)
    return f"{sources(found)}\n\n{table}"


def site():
    found = results.of("site")
    columns = [
        ("MB/s (least–most)", lambda row: f"{number(row['median'])} ({number(row['least'])}–{number(row['most'])})"),
        ("peak memory, MB", lambda row: number(row["memory"])),
    ]
    return f"{sources(found)}\n\n{side_by_side(found, 'page with', lambda row: row['subject'], columns)}"


def python():
    """Returns for each machine a table of messages by their length, and one of the other cases."""
    found = results.of("python")
    parts = [sources(found)]
    for result in found:
        name = results.title(result["machine"])
        by_length = {}
        for row in result["rows"]:
            if row["case"] in ("blake3", "sha256"):
                by_length.setdefault(row["x"], {})[row["case"], row["subject"]] = row
        head = [f"{name}: bytes", "`mksum.blake3`", "× blake3-py", "× blake3-py, AUTO", "`mksum.sha256`", "× hashlib"]
        others = ("blake3", "blake3-py"), ("blake3", "blake3-py, AUTO"), ("sha256", "hashlib")
        lines = []
        for x, rows in by_length.items():
            ratios = [ratio(rows[other]) for other in others]
            blake3, sha256 = (micro(rows[hash, "mksum"]["median"]) for hash in ("blake3", "sha256"))
            lines.append([size(x), blake3, *ratios[:2], sha256, ratios[2]])
        parts.append(markdown(head, lines))
        own = {row["case"]: row for row in result["rows"] if row["subject"] == "mksum"}
        others = [row for row in result["rows"] if row["case"] not in ("blake3", "sha256") and row["subject"] != "mksum"]
        lines = []
        for row in others:
            name_of_case = f"{row['case']}, {size(row['x'])}" if row.get("x") else row["case"]
            lines.append([name_of_case, spread(own[row["case"]]), f"{row['subject']}: {spread(row)}", ratio(row)])
        parts.append(markdown([f"{name}: case", "mksum (least–most)", "beside (least–most)", "× beside"], lines))
    return "\n\n".join(parts)


def ratio(row):
    """Formats how many times as long as ours a peer takes, with quartiles."""
    return f"{row['ratio']:.2f} ({row['low']:.2f}–{row['high']:.2f})"


def spread(row):
    return f"{micro(row['median'])} ({micro(row['least'])}–{micro(row['most'])})"


def micro(value):
    """Formats microseconds."""
    unit, scale = next((unit, scale) for unit, scale in (("s", 1e6), ("ms", 1e3), ("µs", 1)) if value >= scale or scale == 1)
    return f"{number(value / scale)} {unit}"


def size(count):
    """Formats a number of bytes in the largest unit that divides it."""
    units = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1}
    unit, scale = next((unit, scale) for unit, scale in units.items() if count % scale == 0)
    return f"{count // scale:,} {unit}"


def pairs():
    """Returns a table with a row for each number of chunks of each case."""
    found, peers, own = results.of("pairs"), {}, []
    cases = {"batch": "calls on the same chunks", "path": "each digest in the next chunk"}
    for result in found:
        peers |= {(result["file"], row["case"], row["x"]): row for row in result["rows"] if row["subject"] == "hashtree"}
    for result in found:
        rows = [row for row in result["rows"] if row["subject"] == "mksum"]
        own.append({**result, "rows": [{**row, "peer": peers[result["file"], row["case"], row["x"]]} for row in rows]})
    columns = [
        ("mksum, ns (least–most)", nanoseconds),
        ("hashtree, ns (least–most)", lambda row: nanoseconds(row["peer"])),
        ("× hashtree (least–most)", lambda row: "{ratio:.2f} ({ratio_least:.2f}–{ratio_most:.2f})".format(**row["peer"])),
    ]
    table = side_by_side(own, "chunks", lambda row: f"{row['x']:,}, {cases[row['case']]}", columns)
    return f"{sources(found)}\n\n{table}"


def nanoseconds(row):
    return f"{number(row['median'])} ({number(row['least'])}–{number(row['most'])})"


def merklize():
    found = results.of("merklize")
    columns = [
        ("total, ms (least–most)", lambda row: f"{row['median']:,.0f} ({row['least']:,.0f}–{row['most']:,.0f})"),
        ("kernels, ms", lambda row: f"{row['kernel_ms']:,.0f}"),
        ("% of the hashing rate in the nearest cache",
         lambda row: f"{row['hash_percent']:.0f} %" if "hash_percent" in row else "–"),
    ]
    own = only(found, lambda row: row["x"] == LARGEST)
    table = side_by_side(own, "hash, device", lambda row: f"{row['case']}, {short(row['subject'])}", columns)
    published = {one["subject"]: one for result in found for one in result["published"]}.values()
    lines = [f"- {one['case']}: {one['ms']} ms on {one['subject']} ({one['source']})" for one in published]
    return f"{sources(found)}\n\n{table}\n\nPublished for 2^25 leaves, kernels only:\n\n" + "\n".join(lines)


def short(device):
    """Shortens the name that PoCL gives to the CPU."""
    return "PoCL on the same CPU" if device.startswith(("pthread-", "cpu-")) else device


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    parts = {"files": files(), "many": many(), "directories": directories(), "formats": formats(), "site": site()}
    parts |= {"python": python(), "kept": kept(), "repair": repair(), "merklize": merklize(), "pairs": pairs()}
    differing = results.fill(PAGE, parts, write=not sys.argv[1:])
    if sys.argv[1:] and differing:
        sys.exit(f"lab/README.md: the tables {', '.join(differing)} differ from the results: run lab/tables.py")


if __name__ == "__main__":
    main()
