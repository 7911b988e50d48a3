// The page of a figure: choices, the figure, its table, and who measured it where, when and how.
import { escape, toRoot } from "../scripts/html.js";
import { choices } from "../figures/every.js";
import { bars } from "../figures/bars.js";
import { lines } from "../figures/lines.js";
import { barsTable, linesTable } from "../figures/table.js";

export default function (figure) {
    const root = toRoot(figure.output);
    const { suite, style, title } = figure;
    const isBars = figure.kind === "bars";
    const drawn = isBars ? bars(figure, style) : lines(figure, style);
    const table = isBars ? barsTable(figure) : linesTable(figure);
    const unit = isBars ? figure.unit : figure.y.label;
    const say = isBars
        ? `${unit[0].toUpperCase()}${unit.slice(1)}. Bars are medians, the thin lines go from the least to the most.`
        : `${unit[0].toUpperCase()}${unit.slice(1)}, medians.`;
    return `<h1>${escape(suite.title)}</h1>
<p class="lead">${escape(suite.about)} <a href="${root}${suite.document}">What was measured, and what follows from it</a>.</p>
<div class="selectors">${choices(figure).map((choice) => selector(choice, figure)).join("")}</div>
<figure class="${figure.kind}">
<figcaption><h2>${escape(title)}</h2><p>${escape([say, figure.note].filter(Boolean).join(" "))}</p></figcaption>
<div class="plot" tabindex="0" role="group" aria-label="Figure: arrow keys read the values" data-unit="${escape(unit)}"${isBars ? "" : ` data-x="${escape(figure.x.label)}"`}>
${drawn}
</div>
<details>
<summary>Table of all values</summary>
<div class="scroll" role="group" tabindex="0" aria-label="Table: ${escape(title)}">${table}</div>
</details>
</figure>
<dl class="facts">
${facts(figure).map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join("\n")}
</dl>`;
}

function selector({ name, values }, figure) {
    const items = values.map(({ value, current, figure: other }) => {
        const file = other.output.split("/").pop();
        return `<li><a href="${file}"${current && other === figure ? ' aria-current="page"' : ""}>${escape(value)}</a></li>`;
    });
    return `<div role="group" aria-label="${escape(name)}"><span class="choice">${escape(name)}</span><ul>${items.join("")}</ul></div>`;
}

function facts({ suite, results }) {
    const [{ machine, machineTitle, date, commit, versions }] = results;
    const files = results.map(({ file }) => `<code>lab/results/${escape(file)}</code>`).join(", ");
    const peers = suite.suite === "js" ? undefined : Object.values(versions ?? {}).join("; ");
    return [
        ["Machine", `${escape(machineTitle)}: ${escape(machine.cpu)} (${escape(machine.has.join(", "))}), ${escape(machine.system)}`],
        ["Date", `<time datetime="${date}">${date}</time>`],
        ...(commit ? [["Commit", escape(commit)]] : []),
        ...(peers ? [["Versions", escape(peers)]] : []),
        ["Command", `<code>${escape(suite.command.includes("make") ? suite.command : `lab/${suite.command}`)}</code>`],
        ["Results", files],
    ];
}
