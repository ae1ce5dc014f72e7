"""Where a model answers: its URL in one spelling, whether it is near, and what stands between."""

import ipaddress
import re
import urllib.request
from importlib import import_module
from urllib.parse import SplitResult, urlsplit, urlunsplit

from service.errors import ConfigError

OPENAI = "https://api.openai.com/v1"
_CALLS = ("/chat/completions", "/completions", "/embeddings", "/models", "/responses")
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


def normalise_base_url(url: str) -> str:
    """One well-formed spelling of an OpenAI-compatible base URL: a bare host gets its scheme and /v1.

    Raises ConfigError. The message does not repeat the URL, which may hold a password.
    """
    text = url.strip().strip("'\"`<>").strip()
    if re.search(r"[\s\x00-\x1f\\]", text):
        raise ConfigError("The base URL of a model has a space or a control character in it.")
    if "://" not in text:
        text = ("http://" if is_local(_split("http://" + text).hostname or "") else "https://") + text
    parts = _split(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError("The base URL of a model must look like http://127.0.0.1:8080/v1 or https://host/v1.")
    if parts.query or parts.fragment:
        raise ConfigError("The base URL of a model can't have ?… or #… in it.")
    return urlunsplit((parts.scheme, parts.netloc.lower(), _path(parts.path), "", ""))


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise ConfigError(f"The base URL of a model is malformed: {_without_value(error)}.") from None
    return parts


def _without_value(error: ValueError) -> str:
    return "its port is not a number up to 65535" if "ort" in str(error) else "its host can't be read"


def _path(path: str) -> str:
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    for call in _CALLS:
        path = path.removesuffix(call)
    return path or "/v1"


def is_local(host: str) -> bool:
    """Whether `host` is this machine or its private network, which no proxy stands before."""
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        name = host.lower().rstrip(".")
        return "." not in name or name.endswith(_LOCAL_NAMES)
    return address.is_loopback or address.is_private or address.is_link_local


def shown(url: str) -> str:
    """Host and port of `url`, and the proxy that the environment puts before it: what an error may say of it."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    proxy = _proxy(parts)
    return f"{host} (through the proxy {proxy})" if proxy else host


def _proxy(parts: SplitResult) -> str | None:
    host = parts.hostname or ""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or is_local(host) or urllib.request.proxy_bypass(host):
        return None
    return urlsplit(proxy if "://" in proxy else "//" + proxy).netloc.rpartition("@")[2]


def openai_clients(url: str, timeout_s: float) -> dict[str, object]:
    """The HTTP clients for a LangChain OpenAI model at `url`.

    HTTP_PROXY does not swallow calls to a local server. Nor does such a server get kept-alive connections:
    they would outlive the event loop they were made on.
    """
    openai = import_module("openai")  # a second of CPU, which the offline model must not cost
    near = is_local(urlsplit(url).hostname or "")
    limits = openai.DEFAULT_CONNECTION_LIMITS
    if near:
        limits = type(limits)(max_connections=limits.max_connections, max_keepalive_connections=0)
    timeout = openai.Timeout(timeout_s, connect=min(10.0, timeout_s))
    options = {"trust_env": not near, "limits": limits, "timeout": timeout}
    return {
        "http_client": openai.DefaultHttpxClient(**options),
        "http_async_client": openai.DefaultAsyncHttpxClient(**options),
    }
