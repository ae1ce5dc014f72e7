"""The engine from outside: commands, images made where they can't be pulled, and compose projects of a test's own."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx
import yaml

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BASE, API, STANDIN = "loccit-test-base", "loccit-test:api", "loccit-test:standin"
# What the machine needs to reach a package registry, and nothing else of it, goes into the base.
_REACH = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))


class Missing(Exception):
    """Why this machine can't run these tests, as a sentence."""


def run(*words: str, timeout: float = 120, **options: object) -> str:
    """What a command printed; fails with its stderr."""
    done = attempt(*words, timeout=timeout, **options)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def attempt(*words: str, timeout: float = 120, **options: object) -> "subprocess.CompletedProcess[str]":
    """A command run to its end, however that is."""
    return subprocess.run(  # type: ignore[call-overload,no-any-return]  # options are passed on as they are
        words, capture_output=True, text=True, check=False, timeout=timeout, stdin=subprocess.DEVNULL, **options
    )


def docker(*words: str, timeout: float = 120) -> str:
    """`docker …`, stripped."""
    return run("docker", *words, timeout=timeout).strip()


def eventually(true: Callable[[], T], seconds: float, what: str) -> T:
    """The first true value, or a failure that says what never came."""
    give_up = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < give_up, f"not within {seconds:g} s: {what}"
        time.sleep(0.1)
    return value


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def composes() -> list[tuple[str, ...]]:
    """The compose commands there are, the newer first."""
    known = [("docker", "compose"), ("docker-compose",)]
    return [each for each in known if shutil.which(each[0]) and attempt(*each, "version").returncode == 0]


def works(seconds: int, *words: str) -> bool:
    """Whether a command ends well in that time. All that it started is killed with it, so that nothing can hang."""
    return attempt("timeout", "-k", "10", str(seconds), *words, timeout=seconds + 60).returncode == 0


def require_engine() -> None:
    """Raises Missing."""
    if not shutil.which("docker") or not works(30, "docker", "info"):
        raise Missing("no container engine answers; tests/docker/engine.sh starts one on Debian as root")
    if not composes():
        raise Missing("there is neither docker compose nor docker-compose")


def exists(image: str) -> bool:
    """Whether the engine holds the image."""
    return attempt("docker", "image", "inspect", image).returncode == 0


def had(image: str) -> bool:
    """Whether the engine holds the image, or can pull it."""
    return exists(image) or works(300, "docker", "pull", "-q", image)


def base_image() -> str:
    """The base to build on: the named one, the usual one, or one made here. Raises Missing."""
    named = os.environ.get("LOCCIT_IMAGE_BASE")
    if named or exists(BASE):
        return named or BASE
    usual = str(COMPOSE["services"]["api"]["build"]["args"]["BASE"]).partition(":-")[2].rstrip("}")
    if had(usual):
        return usual
    if os.geteuid() or not shutil.which("debootstrap"):
        raise Missing(f"{usual} can't be pulled, and making a base takes debootstrap and root")
    with tempfile.TemporaryDirectory(prefix="loccit-base-") as folder:
        packages = "--include=python3,python3-venv,ca-certificates"
        if not works(600, "debootstrap", "--variant=minbase", packages, "bookworm", folder):
            raise Missing(f"{usual} can't be pulled, and debootstrap makes no base: is there a mirror of Debian?")
        for file in filter(os.path.exists, _REACH):
            shutil.copy(file, folder + file)
        for spare in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/share/man"):
            shutil.rmtree(Path(folder, spare))
        run("sh", "-c", f'tar -C "$1" -c . | docker import - {BASE}', "sh", folder, timeout=300)
    if not works(60, "docker", "run", "--rm", "--network", "none", BASE, "true"):
        docker("image", "rm", BASE)
        raise Missing("the engine answers, but runs no container")
    return BASE


def build(tag: str, folder: Path, base: str) -> None:
    """Build an image as a user would, on that base."""
    proxies = [f"--build-arg={name}" for name in _PROXIES if name in os.environ]
    # The registry may be reached by this machine's own names and routes only.
    docker(
        "build", "--network", "host", "--build-arg", f"BASE={base}", *proxies, "-t", tag, str(folder), timeout=900
    )  # fmt: skip


# A check of its own each, because docker-compose 1.29 lets no overlay switch a healthcheck off.
_LISTENS = ["-c", "import socket; socket.create_connection(('127.0.0.1', 11434), 2)"]
# The service `ollama` as a small model of the same API.
SMALL_MODEL = {
    "image": STANDIN,
    "healthcheck": {"test": ["CMD", "/opt/model/bin/python", *_LISTENS], "interval": "2s"},
}
# And as something that answers at once, for tests that are not about the model.
QUICK_MODEL = {
    "image": API,
    "entrypoint": ["python", "/quick_model.py"],
    "volumes": [f"{HERE / 'standins' / 'quick_model.py'}:/quick_model.py:ro"],
    "healthcheck": {"test": ["CMD", "python", *_LISTENS]},
}


def _overlay(model: Mapping[str, object], *, proxied: bool) -> dict[str, object]:
    """Images of ours in the place of those that can't be pulled."""
    # Its Rust server is in the package that our image has installed, so that is what an image of Chroma's would run.
    chroma = {"image": API, "entrypoint": ["chroma", "run", "--path", "/data", "--host", "0.0.0.0"], "command": []}
    services: dict[str, Mapping[str, object]] = {
        "api": {"image": API},
        "embedded": {"image": API},
        "chroma": {} if had(COMPOSE["services"]["chroma"]["image"]) else chroma,
        "ollama": model,
    }
    if proxied:
        services["proxy"] = {"image": STANDIN, "command": ["nginx", "-g", "daemon off;"]}
    return {"services": services}


@dataclass
class Project:
    """One compose project with its own name, ports and volumes, in a folder as a user would have it."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[str] = ("docker-compose.yml",)
    compose: tuple[str, ...] = field(default_factory=lambda: composes()[0])
    model: Mapping[str, object] = field(default_factory=lambda: QUICK_MODEL)

    def __post_init__(self) -> None:
        self.port = free_port()
        self.name = f"loccit-test-{self.port}"
        shutil.copy(ROOT / "docker-compose.yml", self.folder)
        shutil.copytree(ROOT / "compose", self.folder / "compose")
        (self.folder / "standins.yml").write_text(
            yaml.safe_dump(_overlay(self.model, proxied="compose/nginx.yml" in self.files)), encoding="utf-8"
        )
        lines = {"COMPOSE_PROJECT_NAME": self.name, "LOCCIT_PORT": str(self.port), **self.settings}
        text = "".join(f"{name}={value}\n" for name, value in lines.items())
        (self.folder / ".env").write_text(text, encoding="utf-8")

    @property
    def url(self) -> str:
        """Where the API is published."""
        return f"http://127.0.0.1:{self.port}"

    def __call__(self, *words: str, timeout: float = 300) -> str:
        """`docker compose …` in this project."""
        done = self.attempt(*words, timeout=timeout)
        assert done.returncode == 0, f"compose {' '.join(words)}\n{done.stderr[-4000:]}\n{self.logs()}"
        return done.stdout

    def attempt(self, *words: str, timeout: float = 300) -> "subprocess.CompletedProcess[str]":
        """The same, however it ends."""
        files = [flag for file in (*self.files, "standins.yml") for flag in ("-f", file)]
        return attempt(*self.compose, *files, *words, timeout=timeout, cwd=self.folder)

    def logs(self) -> str:
        """The last lines that each container printed."""
        done = self.attempt("logs", "--tail", "30")
        return (done.stdout + done.stderr)[-6000:]

    def container(self, service: str) -> str:
        """The id of a service's container."""
        found = self("ps", "-q", service).split()
        assert len(found) == 1, f"{service}: {found}"
        return found[0]

    def down(self) -> None:
        """Remove containers, networks and volumes."""
        self("--profile", "embedded", "--profile", "local-model", "down", "-v", "-t", "2", "--remove-orphans")

    def client(self, timeout: float = 30) -> httpx.Client:
        """A client of the published port."""
        return httpx.Client(base_url=self.url, trust_env=False, timeout=timeout)

    def until_ready(self, seconds: float = 90) -> None:
        """Wait until questions are answered and nothing is degraded."""
        eventually(lambda: self.readiness() == (True, []), seconds, f"ready\n{self.readiness()}\n{self.logs()}")

    def readiness(self) -> tuple[bool, list[str]]:
        """What /readyz says: ready, and what is not as it should be."""
        try:
            with self.client(5) as client:
                state = client.get("/readyz").json()
        except (httpx.TransportError, json.JSONDecodeError) as error:
            return False, [repr(error)]
        return bool(state["ready"]), list(state["degraded"])


def crash(container: str) -> None:
    """Kill all that runs in a container but its first process, as the kernel does when memory is short.

    The engine's own `kill` counts as the user's wish and would not be followed by a restart.
    """
    attempt("docker", "exec", container, "bash", "-c", "kill -9 -1")
