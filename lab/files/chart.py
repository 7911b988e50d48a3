"""The results of run.py as a table in lab/README.md and as the bars of README.md."""
import pathlib, re, sys

LAB = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))
import plot, results  # noqa: E401, E402

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
        lines += [f"### {case}", "", f"| command | {rows[0]['amount_unit']}/s | median s (least–most) | CPU s | against {rows[0]['subject']} |", "|---|---|---|---|---|"]
        for row in rows:
            rate = f"{row['rate']:.2f}" if row["rate"] < 100 else f"{row['rate']:,.0f}"
            lines.append(f"| `{row['subject']}` | {rate} | {row['median']:.3f} ({row['least']:.3f}–{row['most']:.3f}) | {row['cpu_seconds']:.3f} | {row['ratio_to_first']:.2f}× |")
        lines.append("")
    return "\n".join(lines)


def draw(result):
    page = LAB / "README.md"
    text = page.read_text()
    text = re.sub(r"(<!-- files -->\n).*?(<!-- /files -->)", lambda found: found[1] + table(result) + found[2], text, flags=re.S)
    page.write_text(text)
    rates = {row["subject"]: row["rate"] for row in result["rows"] if row["case"] == "cached"}
    bars = sorted(((label, rates[name]) for name, label in BARS.items() if name in rates), key=lambda bar: bar[1])
    if not bars:
        return
    where = result["machine"]
    x = f"GB/s, a file of 4 GiB in the page cache, {where['cores']} cores, {where['cpu']}"
    told = plot.save(plot.bars(bars, x, "{:.2f}"), LAB.parent / "docs/speed.svg")
    print(f"drawn: {told}")


if __name__ == "__main__":
    draw(results.read(sys.argv[1]))
