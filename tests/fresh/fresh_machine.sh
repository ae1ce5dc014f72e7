#!/usr/bin/env bash
# Proves on a machine that has never seen the project what README promises: two commands and an answer.
#
#   sudo tests/fresh/fresh_machine.sh [SUITE] [install|run|test]     (bookworm, and everything up to `test`)
#
# SUITE is a Debian release that debootstrap knows. Its minimal system with python3, python3-venv, make and git is kept in
# ${FRESH_BASE:-build/fresh}/SUITE and copied for each run. An ordinary user of that copy, with a clone of HEAD:
#   install  make, up to a whole .venv
#   run      make run with its default address; asks a question; checks that each quote is in its abstract, to the character;
#            then the same again without any network
#   test     make test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
suite=${1:-bookworm} until=${2:-test}
base=${FRESH_BASE:-$PWD/build/fresh}/$suite
packages=python3,python3-venv,make,git,ca-certificates,curl

say() { printf '\n== %s\n' "$*"; }

if ((EUID != 0)); then echo "debootstrap and chroot need root." >&2; exit 2; fi
# Mounts of this run are seen by it alone and go with it.
if [ -z "${FRESH_UNSHARED:-}" ]; then FRESH_UNSHARED=1 exec unshare --mount "$0" "$@"; fi

if [ ! -e "$base/usr/bin/python3" ]; then
    say "debootstrap $suite"
    mkdir -p "$base"
    debootstrap --variant=minbase --include="$packages" "$suite" "$base" >"$base.log" 2>&1 || { tail "$base.log"; exit 1; }
fi

machine=$(mktemp -d)
trap 'umount -l "$machine/proc" "$machine/dev" 2>/dev/null || true; rm -rf --one-file-system "$machine"' EXIT
cp -a "$base/." "$machine"
mount -t proc proc "$machine/proc"
mount --bind /dev "$machine/dev"
# How this machine reaches a package registry, and nothing else of it.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    if [ -e "$file" ]; then cp -L "$file" "$machine$file"; fi
done
chroot "$machine" useradd --create-home --shell /bin/bash reader
git -c safe.directory='*' clone -q --no-hardlinks . "$machine/home/reader/loccit"
chown -R --reference="$machine/home/reader" "$machine/home/reader/loccit"

as_reader() {
    local reach
    mapfile -t reach < <(env | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_CERT|PIP_INDEX_URL)=' || true)
    chroot --userspec=reader "$machine" /usr/bin/env -i HOME=/home/reader LANG=C.UTF-8 PATH=/usr/bin:/bin "${reach[@]}" \
        /bin/bash -c "cd ~/loccit && $1"
}
timed() { local began=$SECONDS; say "$1"; shift; "$@"; echo "== took $((SECONDS - began)) s"; }

install() { as_reader "make install"; }

# Serves, waits until it can answer, asks, and checks; leaves nothing running.
serve_and_ask() {
    as_reader "
        set -em
        make run >run.log 2>&1 & server=\$!
        trap 'kill -INT -- -\$server 2>/dev/null || true; wait \$server || true; cat run.log' EXIT
        for _ in \$(seq 900); do
            curl -sf http://127.0.0.1:8000/readyz >/dev/null && break
            kill -0 \$server || exit 1
            sleep 1
        done
        # The line that it printed for its user, as it is.
        grep -m 1 -o 'curl .*' run.log | sed 's/^curl/curl -sSf/' >ask.sh
        cat ask.sh && sh ask.sh >answer.json
        .venv/bin/python tests/fresh/check_answer.py http://127.0.0.1:8000 answer.json
    "
}
offline() {
    export -f serve_and_ask as_reader
    export machine
    unshare --net bash -euc 'ip link set lo up; serve_and_ask'
}

as_reader "python3 --version"
timed "install" install
if [ "$until" = install ]; then exit; fi
timed "make run, and a question" serve_and_ask
timed "make run once more, without network" offline
if [ "$until" = run ]; then exit; fi
timed "make test" as_reader "CI=true make test"
