// A computation with progress, which can be cancelled.
import { Pace } from "./pace.js";

/** A computation over `total` bytes. It sends `progress` events, and `end` at its end. */
export class Job extends EventTarget {
    /** @private */
    controller = new AbortController();
    /** @private */
    pace = new Pace(performance.now());
    done = 0;
    /** @type {"running" | "done" | "failed" | "cancelled"} */
    state = "running";

    /**
     * @param {string} title
     * @param {number} total
     */
    constructor(title, total) {
        super();
        this.title = title;
        this.total = total;
    }

    get signal() {
        return this.controller.signal;
    }

    /** The rate in bytes per second, if it is known. */
    get rate() {
        return this.pace.rate;
    }

    /** The seconds that are left, if they are known. */
    get left() {
        return this.pace.left(this.total);
    }

    /** @param {number} done */
    advance(done) {
        this.done = Math.min(done, this.total);
        this.pace.record(performance.now(), this.done);
        this.dispatchEvent(new Event("progress"));
    }

    cancel() {
        this.controller.abort();
    }

    /** @param {"done" | "failed" | "cancelled"} state */
    end(state) {
        this.state = state;
        this.dispatchEvent(new Event("end"));
    }
}
