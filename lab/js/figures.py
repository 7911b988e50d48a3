#!/usr/bin/env python3
"""Draws the figures of lab/js/README.md and the page to explore, and writes the tables, from lab/results.

Figures are drawn for one machine, the one with the newest results, and go to lab/js/figures. The page to explore has all
machines and goes to target/lab/js.html.

figures.py           draws the committed figures and writes the tables of the README
figures.py --quick   does the same for the results of a quick run, and writes only below target/lab/quick
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import altair
import plot
import tables
from tables import HASHES, MIB, NATIVE

# The most popular libraries, and the fastest.
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


# ---- Pictures --------------------------------------------------------------------------------------------------------


def pictures(found):
    """Yields the name and the chart of each figure; `found` maps names to engines of one machine."""
    if "chromium" in found:
        yield from of_browser(found["chromium"])
    both = [found[name] for name in ("node", "chromium") if name in found]
    size = {"width": 400, "height": 320, "share": 0.46}

    def side_by_side(case, make):
        return plot.grid([make(engine) for engine in both if engine.subjects(case)])

    yield (
        "keys.svg",
        side_by_side(
            "keys",
            lambda engine: plot.lines(
                engine.rates("keys"),
                x="keys derived together, 1,000 iterations each",
                y="keys per millisecond",
                title=f"PBKDF2-SHA256 of many keys, {engine.title}",
                ticks=[1, 2, 4, 8, 16],
                **size,
            ),
        ),
    )
    yield (
        "best.svg",
        side_by_side(
            "sha256",
            lambda engine: plot.lines(
                best_of_each(engine),
                x="bytes of input",
                y="bytes per millisecond",
                title=f"The best library of each hash, {engine.title}",
                ours=(),
                **size,
            ),
        ),
    )
    yield (
        "trees.svg",
        side_by_side(
            "trees",
            lambda engine: plot.lines(
                engine.rates("trees"),
                x="bytes of the file",
                y="bytes per millisecond",
                title=f"Merkle root, SHA-256, leaves of 1 KiB, {engine.title}",
                **size,
            ),
        ),
    )
    streamed = 1 << 22
    yield (
        "streams.svg",
        side_by_side(
            "streams",
            lambda engine: plot.lines(
                {
                    subject: [(x, streamed / y / 1e3) for x, y in engine.curve("streams", subject)]
                    for subject in engine.subjects("streams")
                },
                x="files that arrive interleaved, 4 MiB together",
                y="MB/s",
                title=f"SHA-256 of many streams, {engine.title}",
                ticks=[1, 4, 16, 64, 256, 1024],
                **size,
            ),
        ),
    )
    if any(engine.subjects("sha256") for engine in found.values()):
        yield "engines.svg", plot.grid([engines_chart(found, hash) for hash in HASHES])


def of_browser(engine):
    """Yields the figures of one engine with all its libraries."""
    order = sorted({subject for hash in HASHES for subject in engine.subjects(hash)})
    size = {"width": 400, "height": 300, "share": 0.4, "order": order}
    axes = {"x": "bytes of input", "y": "bytes per millisecond"}
    measured = [hash for hash in HASHES if engine.subjects(hash)]
    charts = [plot.lines(engine.rates(hash), title=f"{hash}, {engine.title}", **axes, **size) for hash in measured]
    yield "hashes.svg", plot.grid(charts)
    small = [hash for hash in ("sha256", "sha1", "ripemd160", "blake3") if hash in measured]
    charts = [
        plot.lines(
            engine.rates(hash, high=200),
            title=f"{hash} of small inputs, {engine.title}",
            log=(True, False),
            **axes,
            **size,
        )
        for hash in small
    ]
    yield "small.svg", plot.grid(charts)
    charts = [
        plot.lines(
            engine.rates(case), x="iterations", y="iterations per millisecond", title=f"{case}, {engine.title}", **size
        )
        for case in ("pbkdf2-sha1", "pbkdf2-sha256")
    ]
    yield "pbkdf2.svg", plot.grid(charts)
    yield (
        "readme.svg",
        plot.lines(
            engine.rates("sha256", only=KNOWN),
            title=f"SHA-256 in {engine.title}, by the length of the input",
            width=520,
            height=300,
            share=0.4,
            order=sorted(KNOWN),
            **axes,
        ),
    )


def best_of_each(engine):
    """Returns the curve of the fastest library at 64 KiB, for each hash."""
    curves = {}
    for hash in HASHES:
        rate, subject = engine.best(hash, 65536, besides=())
        if rate:
            curves[f"{hash}: {subject}"] = engine.rates(hash, only=[subject])[subject]
    return curves


def engines_chart(found, hash):
    """Returns bars for mksum, the best other library and the engine's own at 1 MiB, in each engine."""
    rows = []
    for engine in found.values():
        ours, (peer, subject) = engine.rate(hash, "mksum", MIB), engine.best(hash, MIB)
        native = max((rate for name in NATIVE if (rate := engine.rate(hash, name, MIB))), default=None)
        for library, rate, name in (
            ("mksum", ours, ""),
            ("best other library", peer, f"  {subject}"),
            ("the engine's own", native, ""),
        ):
            if rate:
                text = f"{rate / 1e3:,.0f}{name}"
                rows.append({"engine": engine.title, "library": library, "rate": rate / 1e3, "text": text})
    order = ["mksum", "best other library", "the engine's own"]
    data = altair.Data(values=rows)
    base = altair.Chart(data).encode(
        y=altair.Y("engine:N", sort=None, title=None, axis=altair.Axis(ticks=False, domain=False)),
        yOffset=altair.YOffset("library:N", sort=order),
        x=altair.X(
            "rate:Q",
            title="MB/s, input of 1 MiB",
            axis=altair.Axis(grid=False, titleAnchor="start", tickCount=5),
            scale=altair.Scale(domain=[0, max([row["rate"] for row in rows], default=1) * 1.55], nice=False),
        ),
    )
    colour = altair.Color(
        "library:N",
        sort=order,
        scale=altair.Scale(domain=order, range=[plot.OURS, "#8a9099", "#d4d7db"]),
        legend=altair.Legend(title=None, orient="top"),
    )
    return (
        base.mark_bar().encode(color=colour) + base.mark_text(align="left", dx=4, fontSize=9).encode(text="text:N")
    ).properties(
        width=360,
        height=44 * len({row["engine"] for row in rows}),
        title=altair.TitleParams(hash, anchor="start", fontSize=13),
    )


# ---- The page to explore ---------------------------------------------------------------------------------------------

QUANTITIES = {
    "hashes": ("Hashes by the length of the input", HASHES, "bytes", "bytes per millisecond"),
    "pbkdf2": ("PBKDF2 by iterations", ["pbkdf2-sha1", "pbkdf2-sha256"], "iterations", "iterations per millisecond"),
    "keys": ("PBKDF2-SHA256 of many keys", ["keys"], "keys", "keys per millisecond"),
    "pool": ("One large file on several workers", ["pool"], "bytes", "bytes per millisecond"),
    "streams": ("Many streams", ["streams"], "files", "MB/s"),
    "trees": ("Merkle roots, SHA-256 of leaves of 1 KiB", ["trees"], "bytes", "bytes per millisecond"),
    "convert": ("Conversions that libraries need", ["convert"], "bytes", "bytes per millisecond"),
}


def page(found, path):
    """Writes one offline page: users choose machine and engine, case and quantity, and pick names; tooltips show the figures."""
    several = len(found) > 1
    measured = [
        (f"{engine.title}, {title}" if several else engine.title, engine)
        for title, engines in found.items()
        for engine in engines
    ]
    titles = [title for title, _ in measured]
    charts = []
    for key, (title, cases, x, rate) in QUANTITIES.items():
        rows = ["engine,case,subject,x,ms,least,most,rate"]
        for name, engine in measured:
            for row in engine.head["rows"]:
                if row["case"] in cases and row["median"]:
                    amount = (1 << 22) / 1e3 if key == "streams" else row["x"]
                    figures = (row["x"], row["median"], row["least"], row["most"], float(amount / row["median"]))
                    cells = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in figures]
                    rows.append(",".join([f'"{name}"', row["case"], f'"{row["subject"]}"', *cells]))
        data = altair.InlineData(values="\n".join(rows), format=altair.CsvDataFormat(type="csv"))
        choices = {"engine": (titles, "engine"), "case": (cases, "case"), "y": (["rate", "time"], "quantity")}
        params = [
            altair.param(
                name=f"{key}_{name}",
                value=options[0],
                bind=altair.binding_select(options=options, name=f"{title}: {label} "),
            )
            for name, (options, label) in choices.items()
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
    # Moves the inputs above the charts.
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


def main():
    if sys.argv[1:] not in ([], ["--quick"]):
        sys.exit(__doc__)
    place = tables.places(quick=bool(sys.argv[1:]))
    found = tables.machines(place.results)
    if not found:
        sys.exit(f"figures.py: {place.results} has no results of this study: measure first with `make lab-js`")
    newest = {engine.name: engine for engine in next(iter(found.values()))}
    place.figures.mkdir(parents=True, exist_ok=True)
    for name, chart in pictures(newest):
        plot.save(chart, place.figures / name)
    page(found, place.explore)
    tables.write(place)


if __name__ == "__main__":
    main()
