#!/usr/bin/env python3
"""Draws the figures of lab/js/README.md and the page to explore, and writes the tables, from lab/results.

All of them show one run on one machine; results of several are refused. Figures go to lab/js/figures, the page to explore to
target/lab/js.html.

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

# The libraries that are drawn in colour: the most popular and the fastest. Others are grey.
KNOWN = [
    "mksum",
    "hash-wasm",
    "@noble/hashes",
    "@stablelib",
    "libsodium-wrappers-sumo",
    "crypto-js",
    "sjcl",
    "WebCrypto",
    "node:crypto",
    "blake3-wasm",
]
# As many lines can be told apart.
DISTINCT = 8


# ---- Pictures --------------------------------------------------------------------------------------------------------


def pictures(found):
    """Yields the name and the chart of each figure; `found` maps names to engines."""
    if "chromium" in found:
        yield from of_browser(found["chromium"])
    both = [found[name] for name in ("node", "chromium") if name in found]
    size = {"width": 400, "height": 320, "share": 0.46}

    def side_by_side(case, make):
        return plot.grid([make(engine) for engine in both if engine.subjects(case)])

    yield (
        "sha1.svg",
        side_by_side(
            "sha1",
            lambda engine: plot.lines(
                {subject: engine.curve("sha1", subject) for subject in engine.subjects("sha1")},
                x="bytes of input",
                y="milliseconds",
                title=f"The time of SHA-1, {engine.title}",
                order=KNOWN,
                rising=True,
                **size,
            ),
        ),
    )
    yield (
        "keys.svg",
        side_by_side(
            "keys",
            lambda engine: plot.lines(
                engine.rates("keys"),
                x="keys derived together, 1,000 iterations each",
                y="keys per millisecond",
                title=f"PBKDF2-SHA256 of many keys, {engine.title}",
                ticks=tables.points(engine, "keys"),
                order=fastest(engine.rates("keys")),
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
                title=f"The library of each hash that is fastest at {BEST_AT >> 10} KiB, {engine.title}",
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
    yield (
        "streams.svg",
        side_by_side(
            "streams",
            lambda engine: plot.lines(
                streamed(engine),
                x="files that arrive interleaved, 4 MiB together",
                y="MB/s",
                title=f"SHA-256 of many streams, {engine.title}",
                ticks=tables.points(engine, "streams"),
                order=fastest(streamed(engine)),
                **size,
            ),
        ),
    )
    if any(engine.subjects("sha256") for engine in found.values()):
        yield "engines.svg", plot.grid([engines_chart(found, hash) for hash in HASHES])


def streamed(engine):
    """Returns the throughput of each way to hash many streams."""
    return {
        subject: [(x, (1 << 22) / y / 1e3) for x, y in engine.curve("streams", subject)]
        for subject in engine.subjects("streams")
    }


def fastest(curves):
    """Returns the names of the curves that end highest, as many as can be told apart; mksum's are always among them."""
    ranked = sorted(curves, key=lambda name: (name.startswith("mksum"), curves[name][-1][1]), reverse=True)
    return ranked[:DISTINCT]


def of_browser(engine):
    """Yields the figures of one engine with all its libraries."""
    size = {"width": 400, "height": 300, "share": 0.44, "order": KNOWN}
    axes = {"x": "bytes of input", "y": "bytes per millisecond"}
    measured = [hash for hash in HASHES if engine.subjects(hash)]
    charts = [plot.lines(engine.rates(hash), title=f"{hash}, {engine.title}", **axes, **size) for hash in measured]
    yield "hashes.svg", plot.grid(charts)
    small = [hash for hash in ("sha256", "sha1", "ripemd160", "blake3") if hash in measured]
    charts = [
        plot.lines(
            engine.rates(hash, high=256),
            title=f"{hash} of small inputs, {engine.title}",
            log=(True, False),
            ticks=[x for x in tables.points(engine, hash) if x <= 256],
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
            order=KNOWN,
            **axes,
        ),
    )


# The size at which best.svg chooses the library of each hash.
BEST_AT = 65536


def best_of_each(engine):
    """Returns the curve of the library of each hash that is fastest at `BEST_AT`."""
    curves = {}
    for hash in HASHES:
        rate, subject = engine.best(hash, BEST_AT, besides=())
        if rate:
            curves[f"{hash}: {subject}"] = engine.rates(hash, only=[subject])[subject]
    return curves


def engines_chart(found, hash):
    """Returns bars for mksum, the best other library and the engine's own at 1 MiB, in each engine, with their intervals."""
    rows = []
    for engine in found.values():
        ours, (peer, peer_name) = engine.rate(hash, "mksum", MIB), engine.best(hash, MIB)
        native, own = max(((rate, name) for name in NATIVE if (rate := engine.rate(hash, name, MIB))), default=(None, None))
        for library, rate, subject, name in (
            ("mksum", ours, "mksum", ""),
            ("best other library", peer, peer_name, f"  {peer_name}"),
            ("the engine's own", native, own, ""),
        ):
            if rate:
                text = f"{rate / 1e3:,.0f}{name}"
                low, high = (end / 1e3 for end in engine.interval(hash, subject, MIB))
                row = {"engine": engine.title, "library": library, "rate": rate / 1e3, "low": low, "high": high}
                rows.append({**row, "text": text})
    order = ["mksum", "best other library", "the engine's own"]
    data = altair.Data(values=rows)
    base = altair.Chart(data).encode(
        y=altair.Y("engine:N", sort=None, title=None, axis=altair.Axis(ticks=False, domain=False)),
        yOffset=altair.YOffset("library:N", sort=order),
        x=altair.X(
            "rate:Q",
            title="MB/s, input of 1 MiB",
            axis=altair.Axis(grid=False, titleAnchor="start", tickCount=5),
            scale=altair.Scale(domain=[0, max([row["high"] for row in rows], default=1) * 1.55], nice=False),
        ),
    )
    colour = altair.Color(
        "library:N",
        sort=order,
        scale=altair.Scale(domain=order, range=[plot.OURS, "#8a9099", "#d4d7db"]),
        legend=altair.Legend(title=None, orient="top"),
    )
    return (
        base.mark_bar().encode(color=colour)
        + base.mark_rule(strokeWidth=1.2).encode(x="low:Q", x2="high:Q")
        + base.mark_text(align="left", dx=4, fontSize=9).encode(x="high:Q", text="text:N")
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


def page(engines, path):
    """Writes one offline page: users choose engine, case and quantity, and pick names; tooltips show the figures."""
    measured = [(engine.title, engine) for engine in engines]
    titles = [title for title, _ in measured]
    charts = []
    for key, (title, cases, x, rate) in QUANTITIES.items():
        rows = ["engine,case,subject,x,ms,low,high,rate"]
        for name, engine in measured:
            for row in engine.head["rows"]:
                if row["case"] in cases and row["median"]:
                    amount = (1 << 22) / 1e3 if key == "streams" else row["x"]
                    figures = (row["x"], row["median"], row["low"], row["high"], float(amount / row["median"]))
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
                tooltip=["subject:N", "x:Q", "ms:Q", "low:Q", "high:Q", altair.Tooltip("rate:Q", title=rate)],
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
    engines = tables.measured(place.results)
    if not engines:
        sys.exit(f"figures.py: {place.results} has no results of this study: measure first with `make lab-js`")
    place.figures.mkdir(parents=True, exist_ok=True)
    for name, chart in pictures({engine.name: engine for engine in engines}):
        plot.save(chart, place.figures / name)
    page(engines, place.explore)
    tables.write(place)


if __name__ == "__main__":
    main()
