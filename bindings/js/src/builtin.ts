/**
 * Imports one of Node's modules, which Deno and Bun have too. Its name is a parameter, so that bundlers for browsers do not look
 * for it.
 */
export function builtin(name: string): Promise<unknown> {
    return import(/* webpackIgnore: true */ /* @vite-ignore */ name);
}
