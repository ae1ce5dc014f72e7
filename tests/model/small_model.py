"""Starting the small model for a test or a measurement."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx

from tests.live import ROOT, environment
from tests.model.serve import NAME

WINDOW = 2_048
_PATIENCE_S = 90.0


@contextlib.contextmanager
def small_model(window: int = WINDOW) -> Iterator[str]:
    """The address of llama.cpp's server with one slot of `window` tokens, once it is healthy."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.model.serve", "--port", "0", "--window", str(window)],
        cwd=ROOT, env=environment({"OMP_WAIT_POLICY": "PASSIVE"}), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith(NAME), f"llama.cpp did not start: {process.poll()}"
        url = line.split()[-1]
        _until_healthy(url)
        yield url
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate(timeout=20)


def _until_healthy(url: str) -> None:
    give_up = time.monotonic() + _PATIENCE_S
    with httpx.Client(trust_env=False, timeout=10) as http:
        while time.monotonic() < give_up:
            with contextlib.suppress(httpx.HTTPError):
                if http.get(f"{url}/health").status_code == 200:
                    return
            time.sleep(0.1)
    raise AssertionError("llama.cpp did not become healthy")


def flags(url: str, window: int = WINDOW) -> dict[str, object]:
    """The settings that put the small model to work."""
    named: dict[str, object] = {"llm.model": f"openai:{NAME}", "llm.base_url": url, "llm.context_window": window}
    return named | {"llm.max_output_tokens": 64, "llm.timeout_s": 240, "llm.seed": 7}
