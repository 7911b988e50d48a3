#!/usr/bin/env python3
"""Writes the tables of lab/js/README.md from the newest results of each machine, one table for each machine.

tables.py            writes the tables
tables.py --check    changes nothing; fails if a table differs from the results
"""


import collections
import math
import pathlib
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import results

HERE = pathlib.Path(__file__).resolve().parent
HASHES = ["md5", "sha1", "sha256", "sha512", "ripemd160", "blake2s", "blake2b", "blake3"]
ENGINES = {
    "node": "Node",
    "chromium": "Chromium",
    "firefox": "Firefox",
    "node-current": "Node",
    "bun": "Bun",
    "deno": "Deno",
}
NATIVE = ("node:crypto", "WebCrypto")
MIB = 1 << 20

Places = collections.namedtuple("Places", "results page figures explore")


def places(quick=False):
    """Returns the folder of results, the page with tables, the folder of figures, and the page to explore.

    A quick run has its own below target/, laid out like lab/, so that the page's links hold and nothing committed is replaced.
    """
    target = HERE.parents[1] / "target/lab"
    if not quick:
        return Places(results.RESULTS, HERE / "README.md", HERE / "figures", target / "js.html")
    folder = target / "quick"
    return Places(folder / "results", folder / "js/README.md", folder / "js/figures", folder / "js.html")


class Engine:
    """The results of one engine on one machine: medians and rows, by case, subject and x."""

    def __init__(self, head):
        self.name = head["engine"]["name"]
        self.version = head["engine"]["version"]
        self.title = f"{ENGINES[self.name]} {self.version.split('.')[0]}"
        self.head = head
        self.rows = {(row["case"], row["subject"], row["x"]): row for row in head["rows"]}

    def curve(self, case, subject):
        return sorted((x, row["median"]) for (c, s, x), row in self.rows.items() if (c, s) == (case, subject))

    def subjects(self, case):
        return list(dict.fromkeys(subject for c, subject, _ in self.rows if c == case))

    def rate(self, case, subject, x):
        """Returns bytes, iterations or keys per millisecond."""
        row = self.rows.get((case, subject, x))
        return x / row["median"] if row else None

    def best(self, case, x, besides=("mksum",)):
        """Returns the (rate, subject) of the fastest peer that is not native."""
        rates = [
            (self.rate(case, subject, x), subject)
            for subject in self.subjects(case)
            if not subject.startswith(NATIVE) and not any(subject.startswith(name) for name in besides)
        ]
        return max(((rate, subject) for rate, subject in rates if rate), default=(None, None))

    def rates(self, case, low=0, high=math.inf, only=None):
        return {
            subject: [(x, x / y) for x, y in self.curve(case, subject) if low <= x <= high]
            for subject in self.subjects(case)
            if not only or subject in only
        }


def machines(folder):
    """Returns the engines of each machine by the machine's title, the machine with the newest results first."""
    found = {}
    heads = [results.read(file) for file in sorted(folder.glob("js-*.json"))]
    for head in sorted(heads, key=lambda head: head["date"], reverse=True):
        found.setdefault(results.title(head["machine"]), []).append(Engine(head))
    order = list(ENGINES)
    return {title: sorted(engines, key=lambda engine: order.index(engine.name)) for title, engines in found.items()}


# ---- Tables of one machine -------------------------------------------------------------------------------------------


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(label, engines, rows):
    """Returns a table with a column for each engine."""
    head = [label, *(engine.title for engine in engines)]
    return "\n".join(
        [f"| {' | '.join(head)} |", "|---|" + "---:|" * len(engines), *(f"| {' | '.join(row)} |" for row in rows)]
    )


def spread(engine, case, subject, x, scale=1):
    """Formats a rate, with the lowest and the highest of the trials in brackets."""
    row = engine.rows.get((case, subject, x))
    if not row:
        return "–"
    median, least, most = (number(x / row[name] / scale) for name in ("median", "most", "least"))
    return f"{median} ({least}–{most})"


def subjects(engines, case, key=None):
    found = list(dict.fromkeys(subject for engine in engines for subject in engine.subjects(case)))
    return sorted(found, key=key) if key else found


def peers(engines, x):
    """Returns mksum, the best other library and the engine's own library at one size, in each engine."""
    rows = []
    for hash in HASHES:
        cells = []
        for engine in engines:
            ours, (peer, subject) = engine.rate(hash, "mksum", x), engine.best(hash, x)
            native = max((rate for name in NATIVE if (rate := engine.rate(hash, name, x))), default=None)
            mine, other, own = (number(rate and rate / 1e3) for rate in (ours, peer, native))
            ahead = ours and peer and ours >= peer
            cells.append(f"{f'**{mine}**' if ahead else mine} / {other} {subject or ''} / {own}")
        rows.append([hash, *cells])
    return table("", engines, rows)


def derived(engines):
    rows = []
    for case in ("pbkdf2-sha1", "pbkdf2-sha256"):
        for subject in subjects(engines, "pbkdf2-sha256", str.lower):
            # The largest count, up to 1,000, that the library reached in time.
            counts = [max((x for x, _ in engine.curve(case, subject) if x <= 1000), default=0) for engine in engines]
            cells = [spread(engine, case, subject, x) for engine, x in zip(engines, counts, strict=True)]
            if any(cell != "–" for cell in cells):
                rows.append([f"{case[7:]} {subject}", *cells])
    return table("iterations per millisecond", engines, rows)


def many_keys(engines):
    def rates(engine, subject):
        each = (engine.rate("keys", subject, count) for count in (1, 4, 16))
        return " / ".join(number((rate or 0) * 1000 or None) for rate in each)

    rows = [[subject, *(rates(engine, subject) for engine in engines)] for subject in subjects(engines, "keys")]
    return table("iterations per millisecond, all keys together", engines, rows)


def streaming(engines):
    def cell(engine, subject):
        row = engine.rows.get(("streams", subject, 64))
        memory = [engine.rows.get(("memory", subject, count)) for count in (64, 1024)]
        used = ", ".join(f"{max(0, one['median'] / MIB):.1f}" if one else "–" for one in memory)
        return f"{number((1 << 22) / row['median'] / 1e3 if row else None)} MB/s; {used} MiB"

    names = subjects(engines, "streams", str.lower)
    rows = [[subject, *(cell(engine, subject) for engine in engines)] for subject in names]
    return table("64 files; memory of 64 and of 1,024", engines, rows)


def by_subject(engines, case, x, label):
    """Returns MB/s of each subject at one size."""
    names = subjects(engines, case)
    rows = [[name, *(spread(engine, case, name, x, 1e3) for engine in engines)] for name in names]
    return table(label, engines, rows)


def pooled(engines):
    largest = max((x for engine in engines for (case, _, x) in engine.rows if case == "pool"), default=0)
    return by_subject(engines, "pool", largest, f"MB/s, a file of {largest >> 20} MiB")


def converting(engines):
    def cell(engine, subject):
        rate, hashed = engine.rate("convert", subject, 65536), engine.rate("sha256", subject, 65536)
        return f"{number(rate and rate / 1e3)} ({number(hashed and hashed / 1e3)})"

    rows = [[subject, *(cell(engine, subject) for engine in engines)] for subject in subjects(engines, "convert")]
    return table("MB/s of the conversion (of the hash)", engines, rows)


def listed(engines, kind):
    """Returns the libraries that were refused or are absent, with the reason."""
    lines = []
    for engine in engines:
        for one in engine.head[kind]:
            where = f"{one.get('case', '')} {one.get('x', '')}".strip()
            lines.append(f"- {engine.title}: {one['subject']}{f', {where}' if where else ''}: {one['why']}")
    return "\n".join(lines) or "- None."


def facts(title, engines):
    """Describes a machine and its measurement, with links to the results."""
    head = engines[0].head
    where, settings = head["machine"], head["settings"]
    trials = sorted({row["trials"] for row in head["rows"] if row["case"] == "sha256"})
    files = [f"[{ENGINES[one.name]} {one.version}](../results/{one.head['file']})" for one in engines]
    quick = " **A quick run: fewer points and trials.**" if settings["quick"] else ""
    span = "–".join(map(str, dict.fromkeys((trials[0], trials[-1]))))
    return (
        f"- {title}: {where['cpu']} ({', '.join(where['has'])}), {where['system']}, {head['date']}; {', '.join(files)}. Commit "
        f"{head['commit']}, seed {settings['seed']}, {span} trials of about {settings['trialMs']} ms a point in "
        f"{engines[0].title}.{quick}"
    )


def write(place):
    """Writes the tables into the page. The page of a quick run starts as a copy of the committed one."""
    if place.page != HERE / "README.md":
        place.page.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "README.md", place.page)
    results.fill(place.page, parts(machines(place.results)), write=True)


def parts(found):
    """Returns the generated parts of the page. Each table is of one machine, which it names."""

    def each(make):
        return "\n\n".join(f"**{title}**\n\n{make(engines)}" for title, engines in found.items())

    return {
        "machine": "\n".join(facts(title, engines) for title, engines in found.items()),
        "large": each(lambda engines: peers(engines, MIB)),
        "small": each(lambda engines: peers(engines, 16)),
        "pbkdf2": each(derived),
        "keys": each(many_keys),
        "trees": each(lambda engines: by_subject(engines, "trees", MIB, "MB/s, a file of 1 MiB")),
        "pool": each(pooled),
        "streams": each(streaming),
        "convert": each(converting),
        "refused": each(lambda engines: listed(engines, "refused")),
        "absent": each(lambda engines: listed(engines, "absent")),
    }


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    place = places()
    if not sys.argv[1:]:
        return write(place)
    differing = results.fill(place.page, parts(machines(place.results)), write=False)
    if differing:
        sys.exit(f"lab/js/README.md: the tables {', '.join(differing)} differ from the results: run lab/js/tables.py")


if __name__ == "__main__":
    main()
