// Where a download is written until it is verified: a file that the person chose, or the browser's private storage.

/** A place for the bytes of a download. They become a file of the person's only with `keep`. */
export class Sink {
    /**
     * @private
     * @param {FileSystemWritableFileStream | undefined} writable
     * @param {{ name: string, temporary?: FileSystemFileHandle, remove?: () => Promise<void> }} place
     */
    constructor(writable, place) {
        this.writable = writable;
        this.place = place;
        /** @private @type {Blob[]} */
        this.parts = [];
    }

    /**
     * Opens a place: where the browser can write files, the person chooses it.
     *
     * @param {string} name
     * @returns {Promise<Sink>}
     */
    static async open(name) {
        if (typeof window.showSaveFilePicker === "function") {
            try {
                const handle = await window.showSaveFilePicker({ suggestedName: name });
                // The file is replaced only when the stream is closed.
                return new Sink(await handle.createWritable(), { name });
            } catch (error) {
                if (error instanceof DOMException && error.name === "AbortError") throw error;
                // For example in a frame of another site, where pickers are refused.
            }
        }
        try {
            const root = await navigator.storage.getDirectory();
            const own = `verify-download-${crypto.randomUUID()}`;
            const temporary = await root.getFileHandle(own, { create: true });
            return new Sink(await temporary.createWritable(), { name, temporary, remove: () => root.removeEntry(own) });
        } catch {
            // Without private storage the bytes are kept as blobs, which browsers move to the disk.
            return new Sink(undefined, { name });
        }
    }

    /** @param {Uint8Array<ArrayBuffer>} bytes */
    async write(bytes) {
        if (this.writable) await this.writable.write(bytes);
        else this.parts.push(new Blob([bytes]));
    }

    /** Makes the bytes a file of the person's. */
    async keep() {
        await this.writable?.close();
        const { name, temporary, remove } = this.place;
        if (this.writable && !temporary) return;
        const blob = temporary ? await temporary.getFile() : new Blob(this.parts);
        const url = URL.createObjectURL(blob);
        Object.assign(document.createElement("a"), { href: url, download: name }).click();
        setTimeout(() => {
            URL.revokeObjectURL(url);
            void remove?.().catch(() => {});
        }, 600_000);
    }

    /** Forgets the bytes. */
    async drop() {
        this.parts = [];
        await this.writable?.abort().catch(() => {});
        await this.place.remove?.().catch(() => {});
    }
}
