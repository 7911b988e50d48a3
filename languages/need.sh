#!/bin/sh
# Installs the Debian packages whose program or file is missing, and says which:
#
#     need.sh go:golang-go /usr/include/cmocka.h:libcmocka-dev …
#
# Waits up to ten minutes for another apt that holds the lock.
set -eu
missing=
for pair in "$@"; do
    thing=${pair%:*} package=${pair##*:}
    case $thing in
    /*) [ -e "$thing" ] || missing="$missing $package" ;;
    *) command -v "$thing" >/dev/null || missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "need.sh: missing:$missing (names of Debian packages): install them and try again" >&2
    exit 1
fi
echo "need.sh: installing$missing" >&2
[ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
# Several languages at once: apt-get waits for another one that installs, but not for one that updates its lists.
exec 9>"${TMPDIR:-/tmp}/mksum-apt-$(id -u).lock"
flock 9
# shellcheck disable=SC2086 # a list of packages
install() { $sudo apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends $missing >/dev/null; }
install 2>/dev/null || { $sudo apt-get -o DPkg::Lock::Timeout=600 update -qq && install; }
