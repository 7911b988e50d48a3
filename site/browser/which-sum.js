// Shows the formats that a pasted sum can have.
import { read } from "./sum-text.js";

const input = document.querySelector("#sum");
const answer = document.querySelector("#answer");
const sections = [...document.querySelectorAll(".form")];
const first = answer.textContent;

document.querySelector(".ask").hidden = false;
input.addEventListener("input", show);
show();

function show() {
    const empty = input.value.trim() === "";
    const found = empty ? undefined : read(input.value);
    let formats = 0;
    for (const section of sections) {
        const { bytes, parts, base64 } = section.dataset;
        // Before the number of parts, S3 has MD5 in hex and all others in base64; elsewhere programs take both.
        const fits = found && Number(bytes) === found.bytes && (parts === "true") === found.parts &&
            (parts === "false" || (base64 === "true") === found.base64);
        section.hidden = !empty && !fits;
        if (fits) formats += section.querySelectorAll("tbody tr").length;
    }
    answer.textContent = empty ? first : said(found, formats);
}

function said(found, formats) {
    if (!found) return "This is no sum: expected hex digits or base64, alone or in a line of a sum file.";
    const size = `${found.bytes} bytes${found.parts ? " and a number of parts" : ""}`;
    const named = found.tag ? ` The text itself says “${found.tag}”.` : "";
    if (formats === 0) return `No format prints sums of ${size}: something may be missing from it.${named}`;
    return `${size}: ${formats === 1 ? "one format" : `${formats} formats`}.${named}`;
}
