"""Draws the figures on standard input (JSON of run.py) into the file that the first argument names."""
import json, sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402: after the choice above

STYLES = [("o", "-"), ("s", "--"), ("^", "-."), ("D", ":"), ("v", "-"), ("P", "--"), ("X", "-."), ("*", ":")]
# Dark enough on white, apart in grey as well: the marker tells them anyway.
COLORS = ["#000000", "#b2182b", "#2166ac", "#1b7837", "#762a83", "#8c510a", "#01665e", "#666666"]

data = json.load(sys.stdin)
figure, axes = pyplot.subplots(figsize=(9, 5.5), dpi=150)
places = data["segments"]
starts = []
for (name, values), (marker, line), color in zip(data["rows"], STYLES, COLORS):
    axes.plot(places, values, marker=marker, linestyle=line, color=color, linewidth=1.6, markersize=6)
    starts.append((values[0], name, color))
axes.set_xscale("log", base=2)
axes.set_yscale("log")
axes.set_xticks(places, data["heads"])
axes.set_xlabel("segment size, bytes")
axes.set_ylabel("MB/s by user and system time, one thread")
ticks = [t for t in (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if min(v for _, r in data["rows"] for v in r) / 2 < t]
axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
axes.minorticks_off()
axes.grid(axis="y", color="#dddddd", linewidth=0.7)
for side in "top", "right":
    axes.spines[side].set_visible(False)
axes.set_title("The root of 256 MiB of random bytes", loc="left")
# Names where the lines begin, pushed apart where those meet.
axes.set_xlim(1, 1 << 24)
figure.canvas.draw()
to_pixels = lambda value: axes.transData.transform((1, value))[1]
from_pixels = lambda pixel: axes.transData.inverted().transform((0, pixel))[1]
at = None
for value, name, color in sorted(starts):
    pixel = to_pixels(value)
    at = pixel if at is None else max(pixel, at + 24)
    axes.annotate(name, (places[0], value), xytext=(9, from_pixels(at)), color=color, va="center", ha="right",
                  arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 5})
figure.tight_layout()
figure.savefig(sys.argv[1])
