/** A function that some hosts have. */
interface Host {
    readonly setImmediate?: (act: () => void) => void;
}

/**
 * Lets the page or the program handle its events. A timer of a browser would wait for at least 4 ms, and `scheduler.yield` would come before
 * timers that are due, so that an `AbortSignal.timeout` would never end what yields by it.
 */
export function pause(): Promise<void> {
    const { setImmediate } = globalThis as Host;
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
