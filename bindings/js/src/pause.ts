/** Functions that some hosts have. */
interface Host {
    readonly scheduler?: { readonly yield?: () => Promise<void> };
    readonly setImmediate?: (act: () => void) => void;
}

/** Lets the page or the program handle its events. A timer of a browser would wait for at least 4 ms. */
export function pause(): Promise<void> {
    const { scheduler, setImmediate } = globalThis as Host;
    if (scheduler?.yield) return scheduler.yield();
    if (setImmediate) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener("message", () => {
            port1.close();
            resolve();
        });
        port1.start();
        port2.postMessage(undefined);
    });
}
