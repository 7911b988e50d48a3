#!/usr/bin/env bash
# lint.sh: lints all Python, shell, TypeScript, JavaScript and workflow files of the repository, and its dependencies. ruff.toml,
# .oxlintrc.json and deny.toml configure it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
tools=${CARGO_TARGET_DIR:-$PWD/target}/lint
# oxlint looks for tsgolint there.
PATH=$tools/node_modules/.bin:$PATH
# Rules that need types read those of the packages' dependencies.
scripts/need.sh lint-python lint-js actionlint deny npm:bindings/js npm:site || exit 1

failed=()
# lint NAME COMMAND… -- PATTERN…: runs a linter on the files that match.
lint() {
    local name=$1 command=()
    shift
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    git ls-files -z -- "$@" | xargs -0 "${command[@]}" || failed+=("$name")
}
lint Python "$tools/venv/bin/ruff" check --quiet --cache-dir "$tools/ruff" -- '*.py'
lint shell "$tools/venv/bin/shellcheck" --norc -- '*.sh' .ci/run
lint JavaScript oxlint --quiet -- '*.ts' '*.js' '*.mjs'
lint workflows "$tools"/actionlint-v* -shellcheck "$tools/venv/bin/shellcheck" -- '.github/workflows/*.yml'
# Who made a dependency, under which licence, and twice: of the tool and libraries, and of the Python package.
deny() {
    local program=("$tools"/cargo-deny-*) checks=(licenses bans sources) manifest
    if git ls-remote --quiet https://github.com/rustsec/advisory-db HEAD >/dev/null 2>&1; then
        checks+=(advisories)
    else
        echo "lint.sh: NOT CHECKED: known vulnerabilities of dependencies: the RustSec database cannot be fetched" >&2
    fi
    for manifest in Cargo.toml bindings/python/Cargo.toml; do
        "${program[@]}" --log-level error --manifest-path "$manifest" --config deny.toml --all-features \
            check --hide-inclusion-graph --allow license-exception-not-encountered --deny unmatched-skip "${checks[@]}" || failed+=("$manifest")
    done
}
deny
[ ${#failed[@]} = 0 ] || { echo "lint.sh: failed: ${failed[*]}" >&2; exit 1; }
echo "Python, shell, TypeScript, JavaScript and workflow files and dependencies have no lint errors"
