#!/usr/bin/env bash
# Makes a container engine answer here, where that can be done without asking: on Debian or Ubuntu as root. Elsewhere it
# says what is missing, and the tests that need it are skipped.
set -euo pipefail

answers() { timeout 20 docker info >/dev/null 2>&1; }
composes() { docker compose version >/dev/null 2>&1 || docker-compose version >/dev/null 2>&1; }

if ! { answers && composes; }; then
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        echo "No container engine answers: start Docker, or run this as root on Debian or Ubuntu. Its tests are skipped."
        exit 0
    fi
    export DEBIAN_FRONTEND=noninteractive
    # `docker-compose` is 1.29 on Debian 12, and `docker compose` on later ones.
    if ! { timeout -k 10 120 apt-get update -q &&
        timeout -k 10 300 apt-get install -q -y --no-install-recommends docker.io docker-compose debootstrap iptables; }; then
        echo "No container engine can be installed here. Its tests are skipped."
        exit 0
    fi
fi

# Both compose generations are promised, and Debian 12 has one: the other is one static file of the next release.
newer_compose() {
    local folder mirror
    folder=$(mktemp -d)
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
    [ -n "$mirror" ] || return 1
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$folder/list"
    mkdir -p "$folder/lists/partial" ~/.docker/cli-plugins
    (
        cd "$folder"
        chmod 755 .
        options=(-o "Dir::Etc::sourcelist=$folder/list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists")
        timeout 120 apt-get "${options[@]}" update -q && timeout 120 apt-get "${options[@]}" download -q docker-compose
        dpkg-deb --fsys-tarfile docker-compose_*.deb | tar -xO ./usr/libexec/docker/cli-plugins/docker-compose >compose
        install compose ~/.docker/cli-plugins/docker-compose
    )
    local code=$?
    rm -rf "$folder"
    return $code
}
if ((EUID == 0)) && ! docker compose version >/dev/null 2>&1 && grep -qs bookworm /etc/os-release; then
    newer_compose >/dev/null 2>&1 || echo "The newer docker compose can't be had here: only docker-compose is tested."
fi

if ! answers && ((EUID == 0)); then
    # Left running: an engine is for more than one run.
    log=$(mktemp -t dockerd.XXXX.log)
    setsid nohup dockerd >"$log" 2>&1 </dev/null &
    give_up=$((SECONDS + 60))
    while ((SECONDS < give_up)); do
        if answers; then break; fi
        if ! kill -0 $! 2>/dev/null; then break; fi
        sleep 0.5
    done
    if ! answers; then
        echo "The container engine does not start here. Its tests are skipped:"
        tail -n 5 "$log"
    fi
fi
