#!/usr/bin/env bash
# site.sh: builds the site, and before it the JavaScript package if there is none of these sources, into target/site.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"
scripts/need.sh npm-build:site

package=bindings/js/dist/index.js
if ! [ -e $package ] || [ -n "$(find bindings/js/{src,scripts,wasm,extra,host} crates/{tree,lanes,sums}/src -newer $package -print -quit)" ]; then
    scripts/need.sh rust target:wasm32-unknown-unknown npm:bindings/js
    (cd bindings/js && npm run --silent build)
fi
(cd site && npm run --silent build)
