// The hover of a figure: the value nearest to the pointer, or the one that the arrow keys reach. Values come from the table.

for (const plot of document.querySelectorAll(".plot")) begin(plot);

/** @param {Element} plot */
function begin(plot) {
    const svg = plot.querySelector("svg");
    const series = [...svg.querySelectorAll(".series")].map((group) => ({ group, points: read(plot, group) }));
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true");
    const said = document.createElement("p");
    said.className = "unseen";
    said.setAttribute("role", "status");
    plot.after(said);
    plot.append(tip);
    /** The series and the point that the keys are at. */
    let at;

    const show = (index, place) => {
        const { group, points } = series[index];
        for (const one of series) one.group.classList.toggle("on", one.group === group);
        svg.classList.add("chosen");
        tip.textContent = points[place].text;
        tip.hidden = false;
        const { x, y } = onPlot(plot, points[place]);
        const left = Math.min(x + 12, plot.scrollLeft + plot.clientWidth - tip.offsetWidth - 2);
        tip.style.left = `${Math.max(plot.scrollLeft, left)}px`;
        tip.style.top = `${Math.max(0, y - tip.offsetHeight - 10)}px`;
    };
    const hide = () => {
        tip.hidden = true;
        svg.classList.remove("chosen");
        for (const { group } of series) group.classList.remove("on");
    };

    plot.addEventListener("pointermove", (event) => {
        const found = nearest(plot, series, event);
        if (found) show(found.index, found.place);
        else hide();
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
            hide();
            return;
        }
        const next = moved(series, at, event.key);
        if (!next) return;
        event.preventDefault();
        at = next;
        show(at.index, at.place);
        said.textContent = tip.textContent;
    });
}

/** Returns the points of a series: where they are in the figure, and what the table says there. */
function read(plot, group) {
    const table = plot.closest("figure").querySelector("table");
    const row = table.tBodies[0].rows[Number(group.dataset.row)];
    const name = row.cells[0].textContent;
    const { unit, x } = plot.dataset;
    const cells = [...row.cells].slice(1);
    const line = group.querySelector("path.line");
    if (!line) {
        const [median, least, most] = cells.map((cell) => cell.textContent);
        return [{ element: group.querySelector("rect"), text: `${name}: ${median} ${unit} (${least} to ${most})` }];
    }
    const places = [...line.getAttribute("d").matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)];
    const heads = [...table.tHead.rows[0].cells].slice(1);
    const known = cells.map((cell, index) => [heads[index].textContent, cell.textContent]).filter(([, value]) => value !== "–");
    return places.map(([, left, top], index) => ({
        x: Number(left),
        y: Number(top),
        text: `${name}: ${known[index][1]} ${unit} at ${known[index][0]} ${x}`,
    }));
}

/** Where a point is in pixels, from the corner of what scrolls. */
function onPlot(plot, { element, x, y }) {
    const box = plot.getBoundingClientRect();
    if (element) {
        const bar = element.getBoundingClientRect();
        return { x: bar.right - box.left + plot.scrollLeft, y: bar.top - box.top };
    }
    const place = new DOMPoint(x, y).matrixTransform(plot.querySelector("svg").getScreenCTM());
    return { x: place.x - box.left + plot.scrollLeft, y: place.y - box.top };
}

/** Returns the point within 40 pixels that is nearest to the pointer; of bars, the one whose row has it. */
function nearest(plot, series, event) {
    const rows = series.findIndex(({ group, points }) => {
        const box = group.getBoundingClientRect();
        return points[0].element && event.clientY >= box.top && event.clientY <= box.bottom;
    });
    if (rows >= 0) return { index: rows, place: 0 };
    const svg = plot.querySelector("svg");
    const matrix = svg.getScreenCTM();
    const pointer = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let best;
    let least = 40 / matrix.a;
    for (const [index, { points }] of series.entries()) {
        for (const [place, { x, y }] of points.entries()) {
            const away = Math.hypot(x - pointer.x, y - pointer.y);
            if (away < least) [best, least] = [{ index, place }, away];
        }
    }
    return best;
}

/** Left and right go along a line, up and down from one to the next. */
function moved(series, at, key) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!steps[key]) return undefined;
    if (!at) return { index: 0, place: 0 };
    const index = Math.min(Math.max(at.index + steps[key][0], 0), series.length - 1);
    const place = Math.min(Math.max(at.place + steps[key][1], 0), series[index].points.length - 1);
    return { index, place };
}
