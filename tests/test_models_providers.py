"""The table of providers: what settings become, what is refused and how, and that nothing phones home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.language_models.chat_models import BaseChatModel

from service.config import Embeddings, Llm
from service.errors import ConfigError
from service.minilm import MiniLM
from service.models import PROVIDERS, chat_model, embeddings
from service.offline import Extractive
from tests.fake_llm import FakeLLM

ROOT = Path(__file__).parents[1]
OPTIONAL = [name for name, row in PROVIDERS.items() if row.extra]


def chat(**settings: object) -> BaseChatModel:
    return chat_model(Llm.model_validate(settings), MiniLM())


def test_offline_is_the_default_and_builtin_the_embedder() -> None:
    assert isinstance(chat(), Extractive)
    assert isinstance(embeddings(Embeddings()), MiniLM)


def test_the_offline_model_brings_its_own_embedder_where_another_is_configured() -> None:
    class Other:
        name = "other"
        max_tokens = 16

        def count(self, text: str) -> int:
            return len(text)

        def embed(self, texts: object) -> None:
            raise AssertionError("not asked")

    model = chat_model(Llm(), Other())  # type: ignore[arg-type]  # an embedder in name only
    assert isinstance(model, Extractive)
    assert isinstance(model.embedding, MiniLM)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("offline:other", "the offline model is offline:extractive"),
        ("opnai:gpt", "did you mean openai"),
        ("nothing-like-it:x", "there are openai, ollama"),
        ("openai:gpt-5-mini", "needs a key: set llm.api_key or OPENAI_API_KEY"),
    ],
)
def test_a_model_that_can_not_be_is_one_sentence(model: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        chat(model=model)


@pytest.mark.parametrize("url", [None, "https://api.openai.com/v1", "api.openai.com", "https://eu.api.openai.com"])
def test_an_absent_key_never_sends_a_placeholder_to_the_cloud(url: str | None) -> None:
    with pytest.raises(ConfigError, match="needs a key"):
        chat(model="openai:gpt-5-mini", base_url=url, api_key=" ")
    with pytest.raises(ConfigError, match="needs a key"):
        embeddings(Embeddings(model="openai:text-embedding-3-small", base_url=url))


@pytest.mark.parametrize("key", ["sk-with space", "sk-\u2026", "sk-line\nline"])
def test_a_key_that_is_none_is_said_without_it(key: str) -> None:
    with pytest.raises(ConfigError, match=r"llm\.api_key holds characters") as caught:
        chat(model="openai:gpt-5-mini", api_key=key)
    assert "sk-" not in str(caught.value)


def test_the_cloud_gets_the_newer_name_of_max_tokens() -> None:
    model = chat(model="openai:gpt-5-mini", api_key="sk-x", max_output_tokens=99)
    payload = model._get_request_payload([("user", "x")])  # type: ignore[attr-defined]  # of LangChain's OpenAI class
    assert payload["max_completion_tokens"] == 99
    assert "extra_body" not in payload
    assert str(model.openai_api_base) == "https://api.openai.com/v1"  # type: ignore[attr-defined]  # as above


def test_a_model_name_may_hold_colons() -> None:
    model = chat(model="openai:llama3.2:3b-instruct", base_url="127.0.0.1:11434")
    assert model.model_name == "llama3.2:3b-instruct"  # type: ignore[attr-defined]  # of LangChain's OpenAI class


@pytest.mark.parametrize("provider", OPTIONAL)
def test_a_missing_package_names_the_extra(provider: str) -> None:
    extra = PROVIDERS[provider].extra
    with pytest.raises(ConfigError, match=rf"pip install 'loccit\[{extra}\]'"):
        chat(model=f"{provider}:some-model")


def test_every_extra_of_the_table_is_in_the_project_file() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for row in PROVIDERS.values():
        assert f'"{row.package.replace("_", "-")}>=' in text
        assert row.extra is None or f"\n{row.extra} = [" in text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_row_hands_over_the_length_limit_and_the_key(provider: str) -> None:
    settings = Llm.model_validate(
        {"model": f"{provider}:m", "api_key": "k", "base_url": "http://127.0.0.1:1", "max_output_tokens": 77, "seed": 5}
    )
    options = PROVIDERS[provider].chat(settings)
    assert "77" in str(options)
    assert provider == "ollama" or options["api_key"] is not None
    if embed := PROVIDERS[provider].embed:
        assert embed(Embeddings.model_validate({"model": f"{provider}:m", "base_url": "http://127.0.0.1:1"}))


def test_ollama_is_told_the_window_lest_it_cuts_at_4096() -> None:
    options = PROVIDERS["ollama"].chat(Llm(model="ollama:m", base_url="localhost:11434/v1", context_window=9000))
    assert options["num_ctx"] == 9000
    assert options["base_url"] == "http://localhost:11434"


def test_a_class_that_can_not_be_set_up_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROVIDERS, "deepseek", PROVIDERS["openai"])
    with pytest.raises(ConfigError, match="deepseek:m can't be set up"):
        chat(model="deepseek:m", base_url="127.0.0.1:1", api_key="k")
    with pytest.raises(ConfigError, match="deepseek:m can't be set up"):
        embeddings(Embeddings.model_validate({"model": "deepseek:m", "base_url": "127.0.0.1:1", "api_key": "k"}))


def test_a_provider_without_embeddings_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROVIDERS, "openai", PROVIDERS["openai"].__class__("langchain_openai", None, lambda _: {}))
    with pytest.raises(ConfigError, match="openai has no embedding models"):
        embeddings(Embeddings(model="openai:x"))


_ASK = """
import asyncio, sys
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from service.config import Llm
from service.minilm import MiniLM
from service.models import chat_model, draft
model = chat_model(Llm(model=sys.argv[1], base_url=sys.argv[2]), MiniLM())
async def ask(): return (await draft(model, [HumanMessage("secret question")], 10, 0)).text
print(asyncio.run(ask()), RunnableLambda(str.upper).invoke("chain"))
"""


def asked(fake: FakeLLM, model: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _ASK, model, fake.url],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


@pytest.mark.parametrize("variable", ["LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"])
def test_tracing_in_the_environment_sends_no_prompt_anywhere(fake_llm: FakeLLM, variable: str) -> None:
    fake_llm.script = ["Said."]
    endpoint = fake_llm.url.removesuffix("/v1")
    keys = {"LANGSMITH_API_KEY": "lsv2_pt_x", "LANGCHAIN_API_KEY": "lsv2_pt_x"}
    done = asked(fake_llm, "openai:m", **keys, **{variable: "true"}, LANGSMITH_ENDPOINT=endpoint)
    assert (done.stdout.strip(), done.stderr.strip()) == ("Said. CHAIN", "")
    assert [request.path for request in fake_llm.requests] == ["/v1/chat/completions"]


def test_the_old_tracing_variable_which_breaks_every_call_is_refused_at_the_start(fake_llm: FakeLLM) -> None:
    done = asked(fake_llm, "openai:m", LANGCHAIN_TRACING="true")
    assert "ConfigError: Unset LANGCHAIN_TRACING" in done.stderr
    assert not fake_llm.requests
