#!/usr/bin/env python3
"""Draws the study and fills the tables of lab/js/README.md, from the newest results of each engine.

    figures.py [FOLDER]    FOLDER holds the results, lab/results if not told

Pictures go to lab/js/figures, the page to explore to target/lab/js.html.
"""

import json, math, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import altair  # noqa: E402
import plot, results  # noqa: E401, E402

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
# Of the many, those that people use most, and the fastest.
KNOWN = [
    "mksum",
    "hash-wasm",
    "libsodium-wrappers-sumo",
    "@chainsafe/as-sha256",
    "@noble/hashes",
    "@stablelib",
    "crypto-js",
    "sjcl",
    "node-forge",
    "WebCrypto",
]
MIB = 1 << 20
FIGURES = HERE / "figures"


class Engine:
    """The results of one engine: medians, and whole rows, by case, subject and x."""

    def __init__(self, told):
        self.name = told["engine"]["name"]
        self.version = told["engine"]["version"]
        self.title = f"{ENGINES[self.name]} {self.version.split('.')[0]}"
        self.told = told
        self.rows = {(row["case"], row["subject"], row["x"]): row for row in told["rows"]}

    def curve(self, case, subject):
        return sorted((x, row["median"]) for (c, s, x), row in self.rows.items() if (c, s) == (case, subject))

    def subjects(self, case):
        return list(dict.fromkeys(subject for c, subject, _ in self.rows if c == case))

    def rate(self, case, subject, x):
        """Bytes, iterations or keys a millisecond."""
        row = self.rows.get((case, subject, x))
        return x / row["median"] if row else None

    def best(self, case, x, besides=("mksum",)):
        """(rate, subject) of the fastest peer that is not native."""
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


def engines(folder):
    newest = {}
    for file in sorted(folder.glob("js-*.json"), key=lambda file: file.stem[-10:]):
        engine = Engine(results.read(file))
        newest[engine.name] = engine
    return {name: newest[name] for name in ENGINES if name in newest}


# ---- Pictures --------------------------------------------------------------------------------------------------------


def pictures(found):
    FIGURES.mkdir(exist_ok=True)
    for name in ("node", "chromium"):
        if name not in found:
            continue
        engine = found[name]
        order = sorted({subject for hash in HASHES for subject in engine.subjects(hash)})
        size = {"width": 400, "height": 300, "share": 0.4, "order": order}
        bytes_ms = {"x": "bytes of input", "y": "bytes a millisecond"}
        yield f"hashes-{name}.svg", plot.grid(
            [
                plot.lines(engine.rates(hash), title=f"{hash}, {engine.title}", **bytes_ms, **size)
                for hash in HASHES
                if engine.subjects(hash)
            ]
        )
        yield f"small-{name}.svg", plot.grid(
            [
                plot.lines(
                    engine.rates(hash, high=200),
                    title=f"{hash} of small inputs, {engine.title}",
                    log=(True, False),
                    **bytes_ms,
                    **size,
                )
                for hash in ("sha256", "sha1", "ripemd160", "blake3")
                if engine.subjects(hash)
            ]
        )
        yield f"time-{name}.svg", plot.lines(
            {subject: engine.curve("sha256", subject) for subject in engine.subjects("sha256")},
            x="bytes of input",
            y="milliseconds",
            title=f"Time of sha256, {engine.title}",
            width=520,
            height=400,
            share=0.36,
            order=order,
        )
        yield f"pbkdf2-{name}.svg", plot.grid(
            [
                plot.lines(
                    engine.rates(case),
                    x="iterations",
                    y="iterations a millisecond",
                    title=f"{case}, {engine.title}",
                    **size,
                )
                for case in ("pbkdf2-sha1", "pbkdf2-sha256")
            ]
            + [
                plot.lines(
                    {subject: engine.curve(case, subject) for subject in engine.subjects(case)},
                    x="iterations",
                    y="milliseconds",
                    title=f"Time of {case}, {engine.title}",
                    **size,
                )
                for case in ("pbkdf2-sha1", "pbkdf2-sha256")
            ]
        )
    both = [found[name] for name in ("node", "chromium") if name in found]
    size = {"width": 400, "height": 320, "share": 0.46}
    yield "keys.svg", plot.grid(
        [
            plot.lines(
                engine.rates("keys"),
                x="keys derived together, 1,000 iterations each",
                y="keys a millisecond",
                title=f"PBKDF2-SHA256 of many keys, {engine.title}",
                ticks=[1, 2, 4, 8, 16],
                **size,
            )
            for engine in both
            if engine.subjects("keys")
        ]
    )
    yield "best.svg", plot.grid(
        [
            plot.lines(
                best_of_each(engine),
                x="bytes of input",
                y="bytes a millisecond",
                title=f"The best library of each hash, {engine.title}",
                ours=(),
                **size,
            )
            for engine in both
        ]
    )
    yield "trees.svg", plot.grid(
        [
            plot.lines(
                engine.rates("trees"),
                x="bytes of the file",
                y="bytes a millisecond",
                title=f"Merkle root, SHA-256, leaves of 1 KiB, {engine.title}",
                **size,
            )
            for engine in both
            if engine.subjects("trees")
        ]
    )
    streamed = 1 << 22
    yield "streams.svg", plot.grid(
        [
            plot.lines(
                {
                    subject: [(x, streamed / y / 1e3) for x, y in engine.curve("streams", subject)]
                    for subject in engine.subjects("streams")
                },
                x="files that arrive interleaved, 4 MiB together",
                y="MB/s",
                title=f"SHA-256 of many streams, {engine.title}",
                ticks=[1, 4, 16, 64, 256, 1024],
                **size,
            )
            for engine in both
            if engine.subjects("streams")
        ]
    )
    if "chromium" in found:
        engine = found["chromium"]
        yield "readme.svg", plot.lines(
            engine.rates("sha256", only=KNOWN),
            x="bytes of input",
            y="bytes a millisecond",
            title=f"SHA-256 in {engine.title}, by the length of the input",
            width=520,
            height=300,
            share=0.4,
            order=sorted(KNOWN),
        )
    if any(engine.subjects("sha256") for engine in found.values()):
        yield "engines.svg", plot.grid([engines_chart(found, hash) for hash in HASHES])


def best_of_each(engine):
    """The curve of the library that is fastest at 64 KiB, for each hash."""
    curves = {}
    for hash in HASHES:
        rate, subject = engine.best(hash, 65536, besides=())
        if rate:
            curves[f"{hash}: {subject}"] = engine.rates(hash, only=[subject])[subject]
    return curves


def engines_chart(found, hash):
    """Who is fastest in which engine, at 1 MiB: ours, the best other library, the engine's own."""
    rows = []
    for engine in found.values():
        ours, (peer, subject) = engine.rate(hash, "mksum", MIB), engine.best(hash, MIB)
        native = max((rate for name in NATIVE if (rate := engine.rate(hash, name, MIB))), default=None)
        for who, rate, told in (
            ("mksum", ours, "mksum"),
            ("best other library", peer, subject),
            ("the engine's own", native, ""),
        ):
            if rate:
                rows.append(
                    {
                        "engine": engine.title,
                        "who": who,
                        "rate": rate / 1e3,
                        "told": f"{rate / 1e3:,.0f}" + (f"  {subject}" if who.startswith("best") else ""),
                    }
                )
    order = ["mksum", "best other library", "the engine's own"]
    data = altair.Data(values=rows)
    base = altair.Chart(data).encode(
        y=altair.Y("engine:N", sort=None, title=None, axis=altair.Axis(ticks=False, domain=False)),
        yOffset=altair.YOffset("who:N", sort=order),
        x=altair.X(
            "rate:Q",
            title="MB/s, input of 1 MiB",
            axis=altair.Axis(grid=False, titleAnchor="start", tickCount=5),
            scale=altair.Scale(domain=[0, max([row["rate"] for row in rows], default=1) * 1.55], nice=False),
        ),
    )
    colour = altair.Color(
        "who:N",
        sort=order,
        scale=altair.Scale(domain=order, range=[plot.OURS, "#8a9099", "#d4d7db"]),
        legend=altair.Legend(title=None, orient="top"),
    )
    return (
        base.mark_bar().encode(color=colour) + base.mark_text(align="left", dx=4, fontSize=9).encode(text="told:N")
    ).properties(
        width=360,
        height=44 * len({row["engine"] for row in rows}),
        title=altair.TitleParams(hash, anchor="start", fontSize=13),
    )


# ---- The page to explore ---------------------------------------------------------------------------------------------

QUANTITIES = {
    "hashes": ("Hashes by the length of the input", HASHES, "bytes", "bytes a millisecond"),
    "pbkdf2": ("PBKDF2 by iterations", ["pbkdf2-sha1", "pbkdf2-sha256"], "iterations", "iterations a millisecond"),
    "keys": ("PBKDF2-SHA256 of many keys", ["keys"], "keys", "keys a millisecond"),
    "pool": ("One big file on several workers", ["pool"], "bytes", "bytes a millisecond"),
    "streams": ("Many streams", ["streams"], "files", "MB a second"),
    "trees": ("Merkle roots, SHA-256 of leaves of 1 KiB", ["trees"], "bytes", "bytes a millisecond"),
    "convert": ("Conversions that libraries ask for", ["convert"], "bytes", "bytes a millisecond"),
}


def page(found, path):
    """One page without a network: engine, case and quantity are chosen, names picked; the pointer tells figures."""
    titles = [engine.title for engine in found.values()]
    charts = []
    for key, (title, cases, x, rate) in QUANTITIES.items():
        rows = ["engine,case,subject,x,ms,least,most,rate"]
        for engine in found.values():
            for row in engine.told["rows"]:
                if row["case"] in cases and row["median"]:
                    amount = (1 << 22) / 1e3 if key == "streams" else row["x"]
                    rows.append(
                        ",".join(
                            [
                                engine.title,
                                row["case"],
                                '"' + row["subject"] + '"',
                                *(
                                    f"{value:.4g}" if isinstance(value, float) else str(value)
                                    for value in (
                                        row["x"],
                                        row["median"],
                                        row["least"],
                                        row["most"],
                                        float(amount / row["median"]),
                                    )
                                ),
                            ]
                        )
                    )
        data = altair.InlineData(values="\n".join(rows), format=altair.CsvDataFormat(type="csv"))
        choose = lambda name, options, told: altair.param(
            name=f"{key}_{name}",
            value=options[0],
            bind=altair.binding_select(options=options, name=f"{title}: {told} "),
        )
        params = [
            choose("engine", titles, "engine"),
            choose("case", cases, "case"),
            choose("y", ["rate", "time"], "quantity"),
        ]
        picked = altair.selection_point(fields=["subject"], bind="legend", name=f"{key}_picked")
        lines = (
            altair.Chart(data)
            .mark_line(point=altair.OverlayMarkDef(size=22))
            .encode(
                x=altair.X("x:Q", scale=altair.Scale(type="log"), title=x),
                y=altair.Y("y:Q", scale=altair.Scale(type="log"), title=f"{rate}, or milliseconds"),
                color=altair.Color(
                    "subject:N",
                    legend=altair.Legend(title="click to pick", symbolLimit=0, columns=1),
                    scale=altair.Scale(scheme="category20"),
                ),
                strokeDash=altair.StrokeDash("subject:N", legend=None),
                opacity=altair.condition(picked, altair.value(1), altair.value(0.1)),
                tooltip=["subject:N", "x:Q", "ms:Q", "least:Q", "most:Q", altair.Tooltip("rate:Q", title=rate)],
            )
            .transform_filter(f"datum.engine == {key}_engine && datum.case == {key}_case")
            .transform_calculate(y=f"{key}_y == 'time' ? datum.ms : datum.rate")
            .add_params(*params, picked)
            .properties(width=760, height=430, title=title)
        )
        charts.append(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    chart = plot.themed(
        altair.vconcat(*charts).resolve_scale(
            x="independent", y="independent", color="independent", strokeDash="independent"
        )
    )
    chart.save(str(path), inline=True)
    # What is chosen goes above what it chooses.
    text = path.read_text()
    path.write_text(
        text.replace(
            "</head>",
            "<title>mksum: the speed of hashing in JavaScript</title>"
            "<style>.vega-embed { display: flex !important; flex-direction: column } "
            ".vega-bindings { order: -1; columns: 3 }</style></head>",
            1,
        )
    )


# ---- Tables ----------------------------------------------------------------------------------------------------------


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head, rows):
    return "\n".join(
        [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1), *(f"| {' | '.join(row)} |" for row in rows)]
    )


def spread(engine, case, subject, x, scale=1):
    """The rate and, in brackets, the least and most of the trials."""
    row = engine.rows.get((case, subject, x))
    return (
        f"{number(x / row['median'] / scale)} ({number(x / row['most'] / scale)}–{number(x / row['least'] / scale)})"
        if row
        else "–"
    )


def machine(found):
    engine = next(iter(found.values()))
    where, settings = engine.told["machine"], engine.told["settings"]
    trials = sorted(row["trials"] for row in engine.told["rows"] if row["case"] == "sha256")
    quick = " **A quick run: fewer points and trials.**" if settings["quick"] else ""
    return (
        f"{engine.told['date']}, {where['cpu']}, {where['cores']} cores ({', '.join(where['has'])}), {where['system']}; "
        f"{', '.join(f'{ENGINES[one.name]} {one.version}' for one in found.values())}. Commit "
        f"{engine.told['commit']}, seed {settings['seed']}, {'–'.join(map(str, sorted({trials[0], trials[-1]})))} trials "
        f"of about {settings['trialMs']} ms a point in {engine.title}.{quick}"
    )


def against(found, hash_x):
    """Ours beside the best other library, and the engine's own, in each engine."""
    rows = []
    for hash in HASHES:
        cells = []
        for engine in found.values():
            ours, (peer, subject), native = (
                engine.rate(hash, "mksum", hash_x),
                engine.best(hash, hash_x),
                max((rate for name in NATIVE if (rate := engine.rate(hash, name, hash_x))), default=None),
            )
            won = ours and peer and ours >= peer
            mine, other, own = (number(rate and rate / 1e3) for rate in (ours, peer, native))
            cells.append(f"{f'**{mine}**' if won else mine} / {other} {subject or ''} / {own}")
        rows.append([hash, *cells])
    return table(["", *(engine.title for engine in found.values())], rows)


def everything(engine):
    """MB/s at four sizes, of every subject of every hash."""
    rows = []
    for hash in HASHES:
        for subject in sorted(engine.subjects(hash), key=lambda subject: -(engine.rate(hash, subject, 1024) or 0)):
            rows.append([f"{hash} {subject}", *(spread(engine, hash, subject, x, 1e3) for x in (16, 1024, 65536, MIB))])
    return table([engine.title, "16 B", "1 KiB", "64 KiB", "1 MiB"], rows)


def derived(found):
    subjects = sorted(
        {subject for engine in found.values() for subject in engine.subjects("pbkdf2-sha256")}, key=str.lower
    )
    rows = []
    for case in ("pbkdf2-sha1", "pbkdf2-sha256"):
        for subject in subjects:
            # The most iterations that all have: who is slow stops earlier.
            cells = [
                spread(engine, case, subject, max((x for x, _ in engine.curve(case, subject) if x <= 1000), default=0))
                for engine in found.values()
            ]
            if any(cell != "–" for cell in cells):
                rows.append([f"{case[7:]} {subject}", *cells])
    return table(["iterations a millisecond", *(engine.title for engine in found.values())], rows)


def many_keys(found):
    subjects = list(dict.fromkeys(subject for engine in found.values() for subject in engine.subjects("keys")))
    rows = [
        [
            subject,
            *(
                " / ".join(number((engine.rate("keys", subject, count) or 0) * 1000 or None) for count in (1, 4, 16))
                for engine in found.values()
            ),
        ]
        for subject in subjects
    ]
    return table(["iterations a millisecond, all keys together", *(engine.title for engine in found.values())], rows)


def streaming(found):
    rows = []
    subjects = sorted({subject for engine in found.values() for subject in engine.subjects("streams")}, key=str.lower)
    for subject in subjects:
        cells = []
        for engine in found.values():
            row = engine.rows.get(("streams", subject, 64))
            kept = [engine.rows.get(("memory", subject, count)) for count in (64, 1024)]
            cells.append(
                f"{number((1 << 22) / row['median'] / 1e3 if row else None)} MB/s; "
                + ", ".join(f"{max(0, used['median'] / MIB):.1f}" if used else "–" for used in kept)
                + " MiB"
            )
        rows.append([subject, *cells])
    return table(["64 files; memory of 64 and of 1,024", *(engine.title for engine in found.values())], rows)


def rooted(found):
    subjects = list(dict.fromkeys(subject for engine in found.values() for subject in engine.subjects("trees")))
    return table(
        ["MB/s, a file of 1 MiB", *(engine.title for engine in found.values())],
        [[subject, *(spread(engine, "trees", subject, MIB, 1e3) for engine in found.values())] for subject in subjects],
    )


def pooled(found):
    subjects = list(dict.fromkeys(subject for engine in found.values() for subject in engine.subjects("pool")))
    most = max((x for engine in found.values() for (case, _, x) in engine.rows if case == "pool"), default=0)
    return table(
        [f"MB/s, a file of {most >> 20} MiB", *(engine.title for engine in found.values())],
        [[subject, *(spread(engine, "pool", subject, most, 1e3) for engine in found.values())] for subject in subjects],
    )


def converting(found):
    subjects = list(dict.fromkeys(subject for engine in found.values() for subject in engine.subjects("convert")))
    rows = [
        [
            subject,
            *(
                f"{number(rate and rate / 1e3)} ({number(hashed and hashed / 1e3)})"
                for engine in found.values()
                for rate, hashed in [
                    (
                        engine.rate("convert", subject, 65536),
                        engine.rate("sha256", subject, 65536),
                    )
                ]
            ),
        ]
        for subject in subjects
    ]
    return table(["MB/s of the conversion (of the hash)", *(engine.title for engine in found.values())], rows)


def told(found, kind):
    """Who was refused, is absent or stopped early, and why."""
    lines = []
    for engine in found.values():
        for one in engine.told[kind]:
            where = f"{one.get('case', '')} {one.get('x', '')}".strip()
            lines.append(f"- {engine.title}: {one['subject']}{f', {where}' if where else ''}: {one['why']}")
    return "\n".join(lines) or "- Nobody."


def fill(page, parts):
    text = page.read_text()
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if begin not in text or end not in text:
            sys.exit(f"figures.py: {page} has no place for {name}")
        before, rest = text.split(begin)
        text = before + begin + content + "\n" + end + rest.split(end, 1)[1]
    page.write_text(text)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else results.RESULTS
    found = engines(folder)
    if not found:
        sys.exit(f"figures.py: no results in {folder}: measure first with `make lab-js`")
    for name, chart in pictures(found):
        plot.save(chart, FIGURES / name)
    page(found, HERE.parents[1] / "target/lab/js.html")
    fill(
        HERE / "README.md",
        {
            "machine": machine(found),
            "large": against(found, MIB),
            "small": against(found, 16),
            "pbkdf2": derived(found),
            "keys": many_keys(found),
            "trees": rooted(found),
            "pool": pooled(found),
            "streams": streaming(found),
            "convert": converting(found),
            "refused": told(found, "refused"),
            "absent": told(found, "absent"),
        },
    )
    (HERE / "tables.md").write_text(
        "# Every hash of every library\n\nWritten by `figures.py`. MB/s: the median, and in brackets the least and the most of the "
        "trials.\n\n"
        + "\n\n".join(everything(engine) for engine in found.values())
        + "\n\n## Who stopped early\n\n"
        + told(found, "stopped")
        + "\n"
    )


if __name__ == "__main__":
    main()
