"""The table of providers: one row each, with the options that our settings become.

A new provider is a row in PROVIDERS. LangChain's own retries are off everywhere: ours are counted in `drafting`.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

import langsmith
from langchain.chat_models import init_chat_model
from langchain.embeddings import init_embeddings
from langchain_core.callbacks import CallbackManager
from langchain_core.embeddings import Embeddings as LangChainEmbeddings
from langchain_core.language_models.chat_models import BaseChatModel
from pydantic import SecretStr

from service.config import Embeddings, Llm
from service.errors import ConfigError
from service.minilm import MiniLM
from service.models import endpoint, faults
from service.models.embedder import Ordered, RemoteEmbedder
from service.offline import Extractive
from vectorstore.paper import Embedder

Options = dict[str, object]
_NO_KEY = "not-needed"
_DEFAULT_MAX_TOKENS = 512
_EMBED_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Provider:
    """How LangChain's class of a provider is set up. `extra` is the pip extra that brings its package."""

    package: str
    extra: str | None
    chat: Callable[[Llm], Options]
    embed: Callable[[Embeddings], Options] | None = None


def chat_model(llm: Llm, embedder: Embedder) -> BaseChatModel:
    """The chat model that `llm.model` names. Raises ConfigError. Opens no connection."""
    _switch_tracing_off()
    provider, _, name = llm.model.partition(":")
    if provider == "offline":
        if name != "extractive":
            raise ConfigError(f"llm.model = {llm.model} is unknown: the offline model is offline:extractive.")
        return Extractive(embedding=embedder if isinstance(embedder, MiniLM) else MiniLM())
    row = _row(provider, "llm.model")
    options = row.chat(llm)
    try:
        model: BaseChatModel = init_chat_model(  # type: ignore[call-overload]  # the options are the class's own
            name, model_provider=provider, **_given(options)
        )
    except (ValueError, TypeError, ImportError) as error:
        raise ConfigError(_unbuilt(llm.model, error, _key(llm))) from error
    return model


def embeddings(settings: Embeddings) -> Embedder:
    """The embedder that `embeddings.model` names. Raises ConfigError. Opens no connection."""
    if settings.model == "builtin":
        return MiniLM()
    provider, _, name = settings.model.partition(":")
    row = _row(provider, "embeddings.model")
    if row.embed is None:
        raise ConfigError(f"{provider} has no embedding models: choose another for embeddings.model, or builtin.")
    options = row.embed(settings)
    try:
        inner = init_embeddings(name, provider=provider, **_given(options))
    except (ValueError, TypeError, ImportError) as error:
        raise ConfigError(_unbuilt(settings.model, error, _key(settings))) from error
    return RemoteEmbedder(
        settings.model,
        _in_order(inner),
        settings.max_tokens or _DEFAULT_MAX_TOKENS,
        endpoint=_called(settings, provider),
        secret=_key(settings) or "",
    )


def _openai_chat(llm: Llm) -> Options:
    url, key = _url_and_key(llm, "llm")
    options: Options = {"base_url": url, "api_key": SecretStr(key), **endpoint.openai_clients(url, llm.timeout_s)}
    options |= {"temperature": llm.temperature, "seed": llm.seed, "max_retries": 0, "stream_usage": True}
    # Nothing of the environment but what our settings took from it.
    options |= {"openai_proxy": None, "stream_chunk_timeout": None, "timeout": llm.timeout_s}
    if url == endpoint.OPENAI:
        return options | {"max_tokens": llm.max_output_tokens}
    # LangChain sends max_completion_tokens, which older local servers ignore: the answer would never end.
    return options | {"extra_body": {"max_tokens": llm.max_output_tokens}, "use_responses_api": False}


def _openai_embed(settings: Embeddings) -> Options:
    url, key = _url_and_key(settings, "embeddings")
    options: Options = {"base_url": url, "api_key": SecretStr(key), **endpoint.openai_clients(url, _EMBED_TIMEOUT_S)}
    # Token ids, which LangChain sends by default, are refused by local servers, or answered with nothing.
    options |= {"check_embedding_ctx_length": False, "max_retries": 0, "openai_proxy": None}
    return options | {"timeout": _EMBED_TIMEOUT_S, "model_kwargs": {"encoding_format": "float"}}


def _ollama_chat(llm: Llm) -> Options:
    options: Options = {"base_url": _own_url(llm), "temperature": llm.temperature, "seed": llm.seed}
    # Without num_ctx, Ollama keeps the last 4,096 tokens and drops the system prompt without a word.
    options |= {"num_ctx": llm.context_window, "num_predict": llm.max_output_tokens}
    return options | {"client_kwargs": {"timeout": llm.timeout_s}}


def _ollama_embed(settings: Embeddings) -> Options:
    return {"base_url": _own_url(settings), "client_kwargs": {"timeout": _EMBED_TIMEOUT_S}}


def _anthropic_chat(llm: Llm) -> Options:
    options: Options = {
        "base_url": llm.base_url,
        "api_key": llm.api_key,
        "temperature": llm.temperature,
        "max_retries": 0,
    }
    return options | {"max_tokens": llm.max_output_tokens, "timeout": llm.timeout_s}


def _google_chat(llm: Llm) -> Options:
    # 1 is Google's spelling of "no retries"; 0 means its default of several.
    options: Options = {
        "base_url": llm.base_url,
        "api_key": llm.api_key,
        "temperature": llm.temperature,
        "max_retries": 1,
    }
    return options | {"max_output_tokens": llm.max_output_tokens, "timeout": llm.timeout_s, "seed": llm.seed}


def _google_embed(settings: Embeddings) -> Options:
    return {"base_url": settings.base_url, "google_api_key": settings.api_key}


def _mistral_chat(llm: Llm) -> Options:
    options: Options = {
        "base_url": llm.base_url,
        "api_key": llm.api_key,
        "temperature": llm.temperature,
        "max_retries": 1,
    }
    return options | {"max_tokens": llm.max_output_tokens, "timeout": int(llm.timeout_s), "random_seed": llm.seed}


def _mistral_embed(settings: Embeddings) -> Options:
    return {"endpoint": settings.base_url, "api_key": settings.api_key, "max_retries": 1}


PROVIDERS = {
    "openai": Provider("langchain_openai", None, _openai_chat, _openai_embed),
    "ollama": Provider("langchain_ollama", "ollama", _ollama_chat, _ollama_embed),
    "anthropic": Provider("langchain_anthropic", "anthropic", _anthropic_chat),
    "google_genai": Provider("langchain_google_genai", "google", _google_chat, _google_embed),
    "mistralai": Provider("langchain_mistralai", "mistral", _mistral_chat, _mistral_embed),
}


def _row(provider: str, setting: str) -> Provider:
    row = PROVIDERS.get(provider)
    if row is None:
        near = difflib.get_close_matches(provider, PROVIDERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(PROVIDERS)}."
        raise ConfigError(f"{setting} names a provider that is not known, {provider}; {hint}")
    if find_spec(row.package) is None:
        raise ConfigError(f"The provider {provider} needs a package: pip install 'loccit[{row.extra}]'.")
    return row


def _url_and_key(section: Llm | Embeddings, table: str) -> tuple[str, str]:
    """Where to ask and with which key. A placeholder goes to a URL that was configured, and never to OpenAI."""
    url = endpoint.normalise_base_url(section.base_url) if section.base_url else endpoint.OPENAI
    key = _key(section)
    if key is None and (urlsplit(url).hostname or "").endswith("openai.com"):
        raise ConfigError(
            f"{section.model} needs a key: set {table}.api_key or OPENAI_API_KEY; "
            f"for a local server, set {table}.base_url instead."
        )
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError(f"{table}.api_key holds characters that no key has: was it copied whole?")
    return url, key or _NO_KEY


def _key(section: Llm | Embeddings) -> str | None:
    key = section.api_key.get_secret_value().strip() if section.api_key else ""
    return key or None


def _own_url(section: Llm | Embeddings) -> str | None:
    """The base URL of a provider whose own API is not under /v1."""
    return endpoint.normalise_base_url(section.base_url).removesuffix("/v1") if section.base_url else None


def _given(options: Options) -> Options:
    """What is set; LangChain's own defaults hold for the rest, but for what must be off."""
    off = {"openai_proxy", "stream_chunk_timeout"}
    return {name: value for name, value in options.items() if value is not None or name in off}


def _called(section: Embeddings, provider: str) -> str:
    url = section.base_url or (endpoint.OPENAI if provider == "openai" else None)
    return (
        f"The embedding endpoint {endpoint.shown(endpoint.normalise_base_url(url))}"
        if url
        else "The embedding endpoint"
    )


def _in_order(inner: LangChainEmbeddings) -> LangChainEmbeddings:
    if hasattr(inner, "client") and hasattr(inner, "check_embedding_ctx_length"):
        inner.client = Ordered(inner.client)
    return inner


def _unbuilt(model: str, error: Exception, key: str | None) -> str:
    return f"{model} can't be set up: {faults.masked(str(error), key or '')}"


def _switch_tracing_off() -> None:
    """LANGSMITH_TRACING and its like in the environment would send questions and abstracts to a third party."""
    langsmith.configure(enabled=False)
    try:
        CallbackManager.configure()
    except RuntimeError as error:
        raise ConfigError(
            "Unset LANGCHAIN_TRACING and LANGCHAIN_HANDLER: LangChain answers no call with them."
        ) from error
