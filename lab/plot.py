"""Plots of all benchmarks: lines and bars with direct labels, readable in black and white."""

import math
import pathlib
import re

import altair

altair.data_transformers.disable_max_rows()

# Colours that are dark enough on white and distinguishable in grey. Dashes and markers distinguish the lines too.
COLOURS = ["#000000", "#b2182b", "#d95f02", "#1b7837", "#762a83", "#8c510a", "#01665e", "#c51b7d", "#4d4d4d", "#542788"]
DASHES = [[1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 1], [1, 3], [10, 3], [6, 2, 1, 2, 1, 2]]
MARKS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left"]
OURS = "#1f5fa8"
GREY = "#9a9a9a"  # for what only has to be found by its name
FONT = "DejaVu Sans, sans-serif"
LABEL = 11  # the size of a label in points, which also determines the distance of labels


def decades(values):
    """Returns ticks at the powers of ten that the values span, and ticks between them if these are few."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    span = math.log10(max(values) / min(values))
    steps = (1, 2, 5) if span <= 1.6 else (1, 3) if span <= 3.2 else (1,)
    return [
        float(f"{step}e{power}")
        for power in range(low, high + 1)
        for step in steps
        if min(values) <= float(f"{step}e{power}") <= max(values) * 1.001
    ]


def apart(places, room, low, high):
    """Moves ascending places as little as possible, so that they are `room` apart and within low and high."""
    groups = []
    for place in places:
        groups.append([place, 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < room * (groups[-1][1] + groups[-2][1]) / 2:
            (a, m), (b, n) = groups[-2], groups[-1]
            groups[-2:] = [[(a * m + b * n) / (m + n), m + n]]
    found = []
    for wanted, count in groups:
        middle = min(max(wanted, low + room * (count - 1) / 2), high - room * (count - 1) / 2)
        found += [middle + room * (index - (count - 1) / 2) for index in range(count)]
    for index in range(1, len(found)):
        found[index] = max(found[index], found[index - 1] + room)
    return found


def lines(
    series,
    *,
    x,
    y,
    title,
    ticks=None,
    width=560,
    height=360,
    log=(True, True),
    order=None,
    ours=("mksum",),
    share=0.3,
    low=None,
    rising=False,
):
    """Returns a chart of series {name: [(x, y)]}, with the name at the end of each line, and `ours` drawn thick.

    `share` is the share of the width for the names. Charts with the same `order` have the same style for each name; series that
    are not in it are grey. Lines that end early are taken to go on level, or as steeply as before if they are `rising`.
    """
    series = {name: sorted(points) for name, points in series.items() if points}
    names = list(order or series)
    across = [point[0] for points in series.values() for point in points]
    up = [point[1] for points in series.values() for point in points]
    fx, fy = (math.log10 if log[0] else float), (math.log10 if log[1] else float)
    back = (lambda value: 10**value) if log[1] else float
    left, right = min(across), max(across)
    end = 10 ** (fx(left) + (fx(right) - fx(left)) / (1 - share)) if log[0] else left + (right - left) / (1 - share)
    bottom, top = (low or min(up)) if log[1] else 0, max(up)
    bottom, top = (bottom / 1.15, top * 1.15) if log[1] else (bottom, top * 1.04)
    span = fy(top) - fy(bottom)
    room = span * (LABEL + 2) / height

    grey = [name for name in series if name not in names and not name.startswith(tuple(ours))]
    style = {
        name: (COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], MARKS[i % len(MARKS)])
        for i, name in enumerate(names)
    }
    style |= dict.fromkeys(grey, (GREY, DASHES[0], "circle"))
    for name in [*names, *series]:
        if name.startswith(tuple(ours)):
            style[name] = (OURS, DASHES[0] if name in ours else DASHES[1], "circle")

    def reached(points):
        """Returns where a line is, or would be, at the right: its label is there, so that its leader crosses few others."""
        (a, b), (c, d) = points[0] if len(points) < 2 else points[-2], points[-1]
        slope = (fy(d) - fy(b)) / (fx(c) - fx(a)) if rising and c != a else 0
        return min(max(fy(d) + slope * (fx(right) - fx(c)), fy(bottom)), fy(top))

    heights = {name: reached(points) for name, points in series.items()}
    ends = sorted(series, key=heights.get)
    places = apart([heights[name] for name in ends], room, fy(bottom) + room / 2, fy(top) - room / 2)

    data, marks, labels, leaders = [], [], [], []
    # Grey lines first, which others cover.
    for index, name in enumerate(sorted(series, key=lambda name: name not in grey)):
        points = series[name]
        data += [{"name": name, "x": a, "y": b} for a, b in points]
        if name in grey:
            continue
        # A few markers on each line, at different places on each.
        every = max(1, len(points) // 6)
        marks += [
            {"name": name, "x": a, "y": b}
            for i, (a, b) in enumerate(points)
            if every == 1 or i % every == index % every
        ]
    step = 0.06 * (fx(end) - fx(left))
    shift = (lambda value: 10 ** (fx(value) + step)) if log[0] else (lambda value: value + step)
    for name, place in zip(ends, places, strict=True):
        a, b = series[name][-1]
        corner = {"name": name, "x": right, "y": back(heights[name])}
        if a < right:
            leaders.append({"name": name, "x": a, "y": b, "x2": corner["x"], "y2": corner["y"]})
        labels.append({**corner, "x2": shift(right), "y2": back(place)})

    scale = altair.Scale(type="log" if log[0] else "linear", domain=[left / 1.08 if log[0] else left, end], nice=False)
    rise = altair.Scale(type="log" if log[1] else "linear", domain=[bottom, top], nice=False)
    # Formats 0.1, 20, 3,000, 20k and 5M.
    form = "datum.value >= 1e4 ? '.3~s' : datum.value < 1 ? '~g' : datum.value < 100 ? '~r' : ',.0f'"
    spell = f"format(datum.value, {form})"
    # Lengths are powers of two where their places are chosen.
    kib = f"datum.value % 1024 == 0 ? datum.value / 1024 + ' KiB' : {spell}"
    length = f"datum.value % 1048576 == 0 ? datum.value / 1048576 + ' MiB' : {kib}"
    axis_x = altair.Axis(
        title=x,
        **({"values": ticks or decades(across)} if ticks or log[0] else {}),
        labelExpr=length if ticks and "bytes" in x else spell,
        grid=False,
        titleAnchor="start",
        labelOverlap="greedy",
    )
    axis_y = altair.Axis(
        title=y,
        **({"values": decades([bottom, top])} if log[1] else {}),
        labelExpr=spell,
        gridColor="#dddddd",
        domain=False,
        ticks=False,
    )
    colour = altair.Color(
        "name:N", legend=None, scale=altair.Scale(domain=list(style), range=[style[name][0] for name in style])
    )
    dash = altair.StrokeDash(
        "name:N", legend=None, scale=altair.Scale(domain=list(style), range=[style[name][1] for name in style])
    )
    shape = altair.Shape(
        "name:N", legend=None, scale=altair.Scale(domain=list(style), range=[style[name][2] for name in style])
    )
    place = {"x": altair.X("x:Q", scale=scale, axis=axis_x), "y": altair.Y("y:Q", scale=rise, axis=axis_y)}

    def stroke(width, mine):
        return (
            altair.Chart(altair.Data(values=[one for one in data if (one["name"] in ours) == mine]))
            .mark_line(clip=True, strokeWidth=width)
            .encode(**place, color=colour, strokeDash=dash)
        )

    drawn = [stroke(1.3, False), *([stroke(2.8, True)] if set(ours) & set(series) else [])]
    points = (
        altair.Chart(altair.Data(values=marks))
        .mark_point(size=28, filled=True, clip=True)
        .encode(**place, color=colour, shape=shape)
    )
    leads = (
        altair.Chart(altair.Data(values=labels + leaders))
        .mark_rule(strokeWidth=0.6)
        .encode(x=place["x"], y=place["y"], x2="x2:Q", y2="y2:Q", color=colour)
    )
    names = (
        altair.Chart(altair.Data(values=labels))
        .mark_text(align="left", dx=3, fontSize=LABEL)
        .encode(x=altair.X("x2:Q", scale=scale), y=altair.Y("y2:Q", scale=rise), text="name:N", color=colour)
    )
    return altair.layer(*drawn, points, leads, names).properties(
        width=width, height=height, title=altair.TitleParams(title, anchor="start", fontSize=13)
    )


def bars(rows, x, form="{:.2f}", *, title=None, width=520, step=19):
    """Returns a chart of bars [(name, value)], the largest at the top, ours in colour."""
    rows = sorted(rows, key=lambda row: -row[1])
    data = [
        {"name": name, "value": value, "text": form.format(value), "ours": name.startswith("mksum")}
        for name, value in rows
    ]
    base = altair.Chart(altair.Data(values=data)).encode(
        y=altair.Y(
            "name:N",
            sort=[name for name, _ in rows],
            axis=altair.Axis(title=None, ticks=False, domain=False, labelLimit=400, labelFontSize=LABEL),
        ),
        x=altair.X(
            "value:Q",
            axis=altair.Axis(title=x, grid=False, titleAnchor="start"),
            scale=altair.Scale(domain=[0, max(value for _, value in rows) * 1.1], nice=False),
        ),
    )
    drawn = base.mark_bar(height=step - 6).encode(
        color=altair.Color("ours:N", legend=None, scale=altair.Scale(domain=[True, False], range=[OURS, "#b9bec5"]))
    )
    return (drawn + base.mark_text(align="left", dx=4, fontSize=LABEL).encode(text="text:N")).properties(
        width=width,
        height=altair.Step(step),
        **({"title": altair.TitleParams(title, anchor="start", fontSize=13)} if title else {}),
    )


def grid(charts, columns=2):
    """Returns charts side by side, each with its own axes."""
    return altair.concat(*charts, columns=columns, spacing=24).resolve_scale(
        x="independent", y="independent", color="independent", strokeDash="independent", shape="independent"
    )


def themed(chart):
    return (
        chart.configure(font=FONT, background="white", aria=False)
        .configure_view(stroke=None)
        .configure_axis(titleFontWeight="normal")
    )


def save(chart, path):
    """Writes a PNG or an SVG, by the suffix of the path. Returns the path."""
    path = pathlib.Path(path)
    themed(chart).save(str(path), **({"ppi": 144} if path.suffix == ".png" else {}))
    if path.suffix == ".svg":
        path.write_text(small(path.read_text()))
    return path


def small(svg):
    """Shortens an SVG: coordinates are rounded to a tenth of a pixel, and marks do not need their roles and classes."""

    def rounded(attribute):
        numbers = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), attribute[2])
        return f' {attribute[1]}="{numbers}"'

    svg = re.sub(r' (d|transform|x|y|x1|x2|y1|y2)="([^"]*)"', rounded, svg)
    return re.sub(r' (?:aria-[a-z]+|role|class|pointer-events)="[^"]*"', "", svg)
