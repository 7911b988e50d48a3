#!/usr/bin/env bash
# site.sh: builds the site, and before it the JavaScript package if there is none of these sources, into target/site.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"
scripts/need.sh node

# locked FOLDER: installs the packages that a folder's lock file names, unless they are there.
locked() {
    [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] || (cd "$1" && npm ci --silent)
}

package=bindings/js/dist/index.js
if ! [ -e $package ] || [ -n "$(find bindings/js/{src,scripts,wasm} crates/{tree,lanes}/src -newer $package -print -quit)" ]; then
    scripts/need.sh rust target:wasm32-unknown-unknown
    locked bindings/js
    (cd bindings/js && npm run --silent build)
fi
locked site
locked site/app
(cd site && npm run --silent build)
