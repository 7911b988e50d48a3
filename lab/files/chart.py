"""The results of run.py as a table in lab/README.md and as the bars of README.md."""
import json, pathlib, re, sys

LAB = pathlib.Path(__file__).resolve().parent.parent
BARS = {
    "sha256sum": "sha256sum", "openssl dgst -sha256": "openssl -sha256", "b3sum": "b3sum",
    "mksum -f rfc6962:sha256:64KiB": "mksum (SHA-256)", "mksum -f blake3": "mksum -f blake3",
    "mksum -f s3:md5:8MiB": "mksum -f s3:md5", "md5sum": "md5sum",
}


def table(result):
    machine = result["machine"]
    lines = [f"{machine['cpu']}, {machine['cores']} cores ({', '.join(machine['has'])}), {machine['system']}, {result['date']}; "
             + ", ".join(result["versions"].values()) + ".", ""]
    for case in dict.fromkeys(row["case"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["case"] == case]
        lines += [f"### {case}", "", f"| command | {rows[0]['unit']}/s | median s (least–most) | CPU s | against {rows[0]['command']} |", "|---|---|---|---|---|"]
        for row in rows:
            least, median, most = row["wall_seconds"]
            rate = f"{row['rate']:.2f}" if row["rate"] < 100 else f"{row['rate']:,.0f}"
            lines.append(f"| `{row['command']}` | {rate} | {median:.3f} ({least:.3f}–{most:.3f}) | {row['cpu_seconds']:.3f} | {row['ratio_to_first']:.2f}× |")
        lines.append("")
    return "\n".join(lines)


def draw(result):
    page = LAB / "README.md"
    text = page.read_text()
    text = re.sub(r"(<!-- files -->\n).*?(<!-- /files -->)", lambda found: found[1] + table(result) + found[2], text, flags=re.S)
    page.write_text(text)
    rates = {row["command"]: row["rate"] for row in result["rows"] if row["case"] == "cached"}
    bars = sorted(((label, rates[name]) for name, label in BARS.items() if name in rates), key=lambda bar: bar[1])
    if not bars:
        return
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plot
    matplotlib.rcParams.update({"svg.hashsalt": "mksum", "font.family": "DejaVu Sans", "font.size": 10})
    figure, axes = plot.subplots(figsize=(7.2, 2.9))
    colours = ["#1f5fa8" if label.startswith("mksum") else "#b9bec5" for label, _ in bars]
    axes.barh([label for label, _ in bars], [rate for _, rate in bars], color=colours, height=0.72)
    for index, (_, rate) in enumerate(bars):
        axes.text(rate + max(rates.values()) * 0.008, index, f"{rate:.2f}", va="center")
    axes.set_xlabel(f"GB/s, a file of 4 GiB in the page cache, {result['machine']['cores']} cores, {result['machine']['cpu']}")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    figure.tight_layout()
    folder = LAB.parent / "docs"
    figure.savefig(folder / "speed.svg", metadata={"Date": None})
    print(f"drawn: {folder}/speed.svg")


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text()))
