// Elements of the page: made, found, filled.
import { visible } from "../text/visible.js";

/** @typedef {Node | string | undefined | false} Child */

/**
 * Creates an element. Properties that begin with `on` are listeners, `class` is the class, others are attributes; `false` and
 * `undefined` are left out. Hidden letters in texts are escaped.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: any) => void)>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) set(element, name, value);
    element.append(...texts(children));
    return element;
}

/**
 * Creates an SVG element.
 *
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: any) => void)>} [properties]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function draw(tag, properties = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(properties)) set(element, name, value);
    element.append(...texts(children));
    return element;
}

/** Returns the children that there are, with texts visible. @param {Child[]} children */
function texts(children) {
    return children.flatMap((child) => (child === undefined || child === false ? [] : [typeof child === "string" ? visible(child) : child]));
}

/** @param {Element} element @param {string} name @param {unknown} value */
function set(element, name, value) {
    if (value === undefined || value === false) return;
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name === "aria-label") element.setAttribute(name, visible(/** @type {string} */ (value)));
    else element.setAttribute(name, value === true ? "" : `${/** @type {string | number} */ (value)}`);
}

/**
 * Returns the element of the page with this id.
 *
 * @template {HTMLElement} [E=HTMLElement]
 * @param {string} id
 * @returns {E}
 */
export function byId(id) {
    const element = document.getElementById(id);
    if (!element) throw new Error(`the page has no element with the id ${id}`);
    return /** @type {E} */ (element);
}

/**
 * Returns a button.
 *
 * @param {string} label
 * @param {(event: MouseEvent) => void} act
 * @param {Record<string, string | boolean | undefined>} [properties]
 */
export function button(label, act, properties = {}) {
    return make("button", { type: "button", onclick: act, ...properties }, label);
}
