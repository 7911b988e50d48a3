// What every page does: it keeps the site for use without a network, and lets keys reach only what scrolls.

const SCROLLERS = ".scroll, pre";

// A group that does not scroll needs no stop for the Tab key.
const reachable = new ResizeObserver((entries) => {
    for (const { target } of entries) {
        const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
        if (scrolls) target.setAttribute("tabindex", "0");
        else target.removeAttribute("tabindex");
    }
});
for (const one of document.querySelectorAll(SCROLLERS)) reachable.observe(one);

// After the page has loaded, so that it comes first. Readers who save data fetch only the pages that they open.
if ("serviceWorker" in navigator && !navigator.connection?.saveData) {
    if (document.readyState === "complete") void keep();
    else addEventListener("load", () => void keep());
}

async function keep() {
    try {
        const registration = await navigator.serviceWorker.register(new URL("service-worker.js", import.meta.url));
        offer(registration);
        registration.addEventListener("updatefound", () => {
            registration.installing?.addEventListener("statechange", () => offer(registration));
        });
    } catch {
        // A page that cannot be kept, in a private window for example, works all the same.
    }
}

/** Offers a new version that is complete. The old one stays until the reader agrees: it may be in the middle of a file. */
function offer(registration) {
    if (!registration.waiting || !navigator.serviceWorker.controller || document.querySelector(".update")) return;
    const box = document.createElement("p");
    box.className = "update";
    box.setAttribute("role", "status");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Reload";
    button.addEventListener("click", () => {
        navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
        registration.waiting?.postMessage("activate");
    });
    box.append("A new version of this site is ready. ", button);
    document.querySelector("footer").before(box);
}
