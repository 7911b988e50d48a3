#!/usr/bin/env python3
"""Writes the tables of lab/js/README.md from the results of one run on one machine; refuses results of several.

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



def native(subject):
    """Returns whether a subject is the engine's own."""
    return subject.startswith(NATIVE)


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
    """The results of one engine: rows by case, subject and x. Rates are in bytes, iterations or keys per millisecond."""

    def __init__(self, head):
        self.name = head["engine"]["name"]
        self.version = head["engine"]["version"]
        busy = ", busy machine" if head["settings"]["busy"] else ""
        self.title = f"{ENGINES[self.name]} {self.version.split('.')[0]}{busy}"
        self.head = head
        self.rows = {(row["case"], row["subject"], row["x"]): row for row in head["rows"]}

    def curve(self, case, subject):
        return sorted((x, row["median"]) for (c, s, x), row in self.rows.items() if (c, s) == (case, subject))

    def subjects(self, case):
        return list(dict.fromkeys(subject for c, subject, _ in self.rows if c == case))

    def rate(self, case, subject, x):
        row = self.rows.get((case, subject, x))
        return x / row["median"] if row else None

    def interval(self, case, subject, x):
        """Returns the interval of the rate: (low, high)."""
        row = self.rows[case, subject, x]
        return x / row["high"], x / row["low"]

    def leads(self, case, subject, x):
        """Returns whether a library leads: its interval is above those of all others. The engine's own are no libraries."""
        if native(subject) or not self.rate(case, subject, x):
            return False
        others = (one for one in self.subjects(case) if one != subject and not native(one) and self.rate(case, one, x))
        low, _ = self.interval(case, subject, x)
        highs = [self.interval(case, other, x)[1] for other in others]
        return bool(highs) and low > max(highs)

    def best(self, case, x, besides=("mksum",)):
        """Returns the (rate, subject) of the fastest peer that is not native."""
        rates = [
            (self.rate(case, subject, x), subject)
            for subject in self.subjects(case)
            if not native(subject) and not any(subject.startswith(name) for name in besides)
        ]
        return max(((rate, subject) for rate, subject in rates if rate), default=(None, None))

    def rates(self, case, low=0, high=math.inf, only=None):
        return {
            subject: [(x, x / y) for x, y in self.curve(case, subject) if low <= x <= high]
            for subject in self.subjects(case)
            if not only or subject in only
        }


def measured(folder):
    """Returns the engines of the run whose results a folder has. Refuses results of several machines or runs."""
    heads = [results.read(file) for file in sorted(folder.glob("js-*.json"))]
    for head in heads:
        if "run" not in head:
            sys.exit(f"{folder / head['file']} is from before runs had names: measure again with `make lab-js`")
    for kind, of in (("machine", place), ("run", lambda head: head["run"])):
        names = {head["file"]: of(head) for head in heads}
        if len(set(names.values())) > 1:
            listing = "".join(f"\n  {file}: {name}" for file, name in names.items())
            sys.exit(f"{folder} has results of more than one {kind}, which no table may mix:{listing}")
    return sorted((Engine(head) for head in heads), key=lambda engine: list(ENGINES).index(engine.name))


def place(head):
    """Returns a machine and its system in words."""
    where = head["machine"]
    return f"{results.title(where)}: {where['cpu']} ({', '.join(where['has'])}), {where['system']}"


# ---- Tables ----------------------------------------------------------------------------------------------------------


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


def figure(engine, case, subject, x, scale=1, bold=True, more=""):
    """Formats a rate with its interval in brackets, in bold if the library leads."""
    rate = engine.rate(case, subject, x)
    if not rate:
        return "–"
    low, high = engine.interval(case, subject, x)
    median = number(rate / scale)
    if bold and engine.leads(case, subject, x):
        median = f"**{median}**"
    return f"{median} ({number(low / scale)}–{number(high / scale)}){more}"


def subjects(engines, case, key=None):
    found = list(dict.fromkeys(subject for engine in engines for subject in engine.subjects(case)))
    return sorted(found, key=key) if key else found


def peers(engines, x):
    """Returns mksum, the best other library and the engine's own library at one size, in each engine."""

    def own(engine, hash):
        return max(((rate, name) for name in NATIVE if (rate := engine.rate(hash, name, x))), default=(None, None))[1]

    def cell(engine, hash, subject, named=True):
        return figure(engine, hash, subject, x, 1e3, more=f" {subject}" if named else "")

    rows = []
    for hash in HASHES:
        rows.append([f"{hash}: mksum", *(cell(engine, hash, "mksum", named=False) for engine in engines)])
        rows.append(["the best other", *(cell(engine, hash, engine.best(hash, x)[1]) for engine in engines)])
        if any(own(engine, hash) for engine in engines):
            rows.append(["the engine's own", *(cell(engine, hash, own(engine, hash)) for engine in engines)])
    return table("MB/s", engines, rows)


def derived(engines):
    rows = []
    for case in ("pbkdf2-sha1", "pbkdf2-sha256"):
        for subject in subjects(engines, "pbkdf2-sha256", str.lower):
            cells = [figure(engine, case, subject, 1000) for engine in engines]
            if any(cell != "–" for cell in cells):
                rows.append([f"{case[7:]} {subject}", *cells])
    return table("iterations per millisecond", engines, rows)


def many_keys(engines):
    rows = []
    for subject in subjects(engines, "keys"):
        for count in (1, 16):
            # 1,000 iterations for each key.
            cells = [figure(engine, "keys", subject, count, 1e-3) for engine in engines]
            rows.append([f"{subject}: {count} key{'s' if count > 1 else ''}", *cells])
    return table("iterations per millisecond, all keys together", engines, rows)


def streaming(engines):
    def cell(engine, subject):
        memory = [engine.rows.get(("memory", subject, count)) for count in (64, 1024)]
        used = ", ".join(f"{max(0, one['median'] / MIB):.1f}" if one else "–" for one in memory)
        # 4 MiB in 64 files.
        return f"{figure(engine, 'streams', subject, 64, 64 / (1 << 22) * 1e3)}; {used}"

    names = subjects(engines, "streams", str.lower)
    rows = [[subject, *(cell(engine, subject) for engine in engines)] for subject in names]
    return table("MB/s; MiB of 64 and of 1,024", engines, rows)


def points(engine, case):
    """Returns the x of all curves of a case."""
    return sorted({x for found, _, x in engine.rows if found == case})


def by_subject(engines, case, x, label, bold=True):
    """Returns MB/s of each subject at one size."""
    names = subjects(engines, case)
    rows = [[name, *(figure(engine, case, name, x, 1e3, bold) for engine in engines)] for name in names]
    return table(label, engines, rows)


def pooled(engines):
    largest = max((x for engine in engines for (case, _, x) in engine.rows if case == "pool"), default=0)
    return by_subject(engines, "pool", largest, f"MB/s, a file of {largest >> 20} MiB", bold=False)


def converting(engines):
    def cell(engine, subject):
        hashed = engine.rate("sha256", subject, 65536)
        return f"{figure(engine, 'convert', subject, 65536, 1e3, bold=False)}; {number(hashed and hashed / 1e3)}"

    rows = [[subject, *(cell(engine, subject) for engine in engines)] for subject in subjects(engines, "convert")]
    return table("MB/s of the conversion; of the hash", engines, rows)


def listed(engines, kind):
    """Returns the libraries that were refused, are absent, or stopped early, with the reason."""
    whys = {}
    for engine in engines:
        for one in engine.head[kind]:
            where = f"{one.get('case', '')} {one.get('x', '')}".strip()
            name = f"{one['subject']}{f', {where}' if where else ''}"
            # Times of calls are different in each engine; the figures show them.
            why = "" if one["why"].endswith("ms a call") else f": {one['why']}"
            whys.setdefault(f"{name}{why}", []).append(engine.title)
    return "\n".join(f"- {what} ({'; '.join(dict.fromkeys(where))})" for what, where in whys.items()) or "- None."


def facts(engines):
    """Describes a machine and its measurement, with links to the results."""
    head = engines[0].head
    settings = head["settings"]
    files = [f"[{ENGINES[one.name]} {one.version}](../results/{one.head['file']})" for one in engines]
    loads = [load for one in engines for load in one.head["settings"]["loads"]]
    quick = " **A quick run: fewer points and trials.**" if settings["quick"] else ""
    busy = " **Figures of a busy machine, not to be cited.**" if any(one.head["settings"]["busy"] for one in engines) else ""
    return (
        f"- {place(head)}, {head['date']}; {', '.join(files)}. Run {head['run']}, commit {head['commit']}, {settings['passes']} "
        f"processes of {settings['trials']} trials of at least {settings['trialMs']} ms a point. Other programs took "
        f"{min(loads):.0%} to {max(loads):.0%} of a processor.{quick}{busy}"
    )


def write(places):
    """Writes the tables into the page. The page of a quick run starts as a copy of the committed one."""
    if places.page != HERE / "README.md":
        places.page.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "README.md", places.page)
    results.fill(places.page, parts(measured(places.results)), write=True)


def parts(engines):
    """Returns the generated parts of the page."""
    made = {
        "machine": facts,
        "large": lambda engines: peers(engines, MIB),
        "small": lambda engines: peers(engines, 16),
        "pbkdf2": derived,
        "keys": many_keys,
        "trees": lambda engines: by_subject(engines, "trees", MIB, "MB/s, a file of 1 MiB"),
        "pool": pooled,
        "streams": streaming,
        "convert": converting,
        "refused": lambda engines: listed(engines, "refused"),
        "absent": lambda engines: listed(engines, "absent"),
        "stopped": lambda engines: listed(engines, "stopped"),
    }
    return {name: make(engines) if engines else "Not measured yet." for name, make in made.items()}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    here = places()
    if not sys.argv[1:]:
        return write(here)
    differing = results.fill(here.page, parts(measured(here.results)), write=False)
    if differing:
        sys.exit(f"lab/js/README.md: the tables {', '.join(differing)} differ from the results: run lab/js/tables.py")


if __name__ == "__main__":
    main()
