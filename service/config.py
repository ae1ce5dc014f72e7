"""The settings, typed and frozen: loccit.toml, then LOCCIT_… variables, then flags. The only reader of the environment.

Each section below is a table of loccit.toml. A new setting is a field with its bounds and a description; the
file, the variable, `loccit config` and the messages about it follow from that.
"""

import hashlib
import hmac
import ipaddress
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from service.domain import Verify
from service.errors import ConfigError
from service.layers import FILE_NAME, FILE_VARIABLE, Layers, Origin

_MASK = "********"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


def _listed(value: object) -> object:
    """A list, or its items in one string with commas between them, as the environment must spell it."""
    if isinstance(value, str):
        return [item.strip() for item in value.strip("[] ").replace('"', "").split(",") if item.strip()]
    return value


def _hashed(value: object) -> object:
    """A key as `sha256:<hex>`: the settings never hold the key itself."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("each key is a non-empty string")
    key = value.strip()
    if re.fullmatch(r"sha256:[0-9a-fA-F]{64}", key):
        return key.lower()
    if key.startswith("sha256:"):
        raise ValueError("a hashed key is sha256: and 64 hexadecimal digits")
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def _url(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        return None
    return value


def _spelled(model: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*:\S.*", model):
        raise ValueError("a model is spelled provider:model, as in openai:gpt-5-mini or ollama:llama3.2")
    return model


def _spelled_or_builtin(model: str) -> str:
    return model if model == "builtin" else _spelled(model)


KeyHash = Annotated[str, BeforeValidator(_hashed)]
Url = Annotated[Annotated[str, Field(max_length=2_000)] | None, BeforeValidator(_url), Field(repr=False)]


class Section(BaseModel):
    """A table of loccit.toml: frozen, refuses keys it does not know, and says no value back."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: object, info: ValidationInfo) -> object:
        """Refuse true where a number is meant, and read "none" as unset: TOML has no word for it."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and annotation is not bool:
            raise ValueError("true and false are no value for this setting")
        if isinstance(value, str) and value.strip().lower() == "none":
            return None
        return value


class Llm(Section):
    """The language model."""

    model: Annotated[str, Field(max_length=200), AfterValidator(_spelled)] = "offline:extractive"
    base_url: Url = None
    api_key: SecretStr | None = None
    context_window: Annotated[int, Field(ge=1_024, le=10_000_000)] = 8_192
    max_output_tokens: Annotated[int, Field(ge=16, le=100_000)] = 512
    temperature: Annotated[float | None, Field(ge=0, le=2)] = 0.0
    timeout_s: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    seed: Annotated[int | None, Field(ge=-(2**63), le=2**63 - 1)] = None

    @model_validator(mode="after")
    def _room_for_evidence(self) -> Self:
        if self.max_output_tokens > self.context_window // 2:
            raise ValueError("max_output_tokens must leave half of context_window for the evidence")
        return self


class Embeddings(Section):
    """The embedding model; `builtin` runs in this process and needs nothing."""

    model: Annotated[str, Field(max_length=200), AfterValidator(_spelled_or_builtin)] = "builtin"
    base_url: Url = None
    api_key: SecretStr | None = None
    max_tokens: Annotated[int | None, Field(ge=16, le=1_000_000)] = None


class StoreSettings(Section):
    """Where papers are kept. A relative path counts from the working directory."""

    path: Path = Path(".loccit")
    chroma_url: Url = None


class Retrieval(Section):
    """How many papers' passages are found for a question that does not say; `top_k` of the question goes before it."""

    top_k: Annotated[int, Field(ge=1, le=100)] = 8


class AnswerSettings(Section):
    """How answers are checked. `floor` unset means the calibrated one; of `drafts` the best verified one wins.

    `judge = "model"` asks the language model for a second opinion, which can take "supported" away.
    """

    verify: Verify = "annotate"
    floor: Annotated[float | None, Field(ge=0, le=1)] = None
    drafts: Annotated[int, Field(ge=1, le=8)] = 1
    judge: Literal["off", "model"] = "off"


class Server(Section):
    """The HTTP service. `rate_limit` is requests a minute for each key or address; unset means none.

    `allowed_hosts`: names it goes by besides those of this machine. Where unset, a wider bind or a key allows any.
    """

    host: Annotated[str, Field(pattern=r"^[0-9A-Za-z.:_%-]+$", max_length=255)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8_000
    api_keys: Annotated[tuple[KeyHash, ...], BeforeValidator(_listed)] = ()
    cors_origins: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    max_body_bytes: Annotated[int, Field(ge=1_024, le=2**40)] = 64 * 2**20
    rate_limit: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    max_concurrent_answers: Annotated[int, Field(ge=1, le=1_000)] = 8
    read_timeout_s: Annotated[float, Field(gt=0, le=3_600)] = 30.0
    allow_anonymous: bool = False
    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()

    @model_validator(mode="after")
    def _closed_to_strangers(self) -> Self:
        if not (self.api_keys or self.allow_anonymous or is_loopback(self.host)):
            raise ValueError(
                f"host {self.host} is open to other machines: set server.api_keys, "
                "or server.allow_anonymous = true if that is meant"
            )
        return self

    def accepts(self, key: bytes) -> bool:
        """Whether `key` is one of the configured keys, in a time that does not tell which."""
        given = "sha256:" + hashlib.sha256(key).hexdigest()
        return any([hmac.compare_digest(given, known) for known in self.api_keys])  # noqa: C419 - a generator stops early


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in force: its value as plain data, secrets masked, and where it came from."""

    key: str
    value: str | int | float | bool | list[str] | None
    origin: Literal["default", "file", "environment", "flag"]
    name: str


class Settings(Section):
    """Every setting. `Settings()` holds the defaults; `Settings.load()` reads file, environment and flags."""

    llm: Llm = Llm()
    embeddings: Embeddings = Embeddings()
    store: StoreSettings = StoreSettings()
    retrieval: Retrieval = Retrieval()
    answer: AnswerSettings = AnswerSettings()
    server: Server = Server()
    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

    @classmethod
    def load(
        cls,
        flags: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Self:
        """The settings in force; `flags` by dotted key. Raises ConfigError with every fault, a line each."""
        environ = os.environ if environ is None else environ
        cwd = Path.cwd() if cwd is None else cwd
        layers = Layers(keys=setting_keys())
        path = cwd / Path(environ.get(FILE_VARIABLE) or FILE_NAME).expanduser()
        if environ.get(FILE_VARIABLE) or path.exists():
            layers.add_file(path)
        layers.add_environment(environ)
        layers.add_flags(flags or {})
        _add_openai(layers, environ)
        settings = cls._validated(layers)
        store = settings.store.model_copy(update={"path": cwd / settings.store.path.expanduser()})
        return settings.model_copy(update={"store": store})

    @classmethod
    def _validated(cls, layers: Layers) -> Self:
        try:
            settings = cls.model_validate(layers.nested(), context=layers.origins)
        except ValidationError as error:
            layers.faults.extend(_fault(fault["loc"], fault["msg"], layers) for fault in error.errors())
            raise ConfigError("\n".join(layers.faults)) from None
        if layers.faults:
            raise ConfigError("\n".join(layers.faults))
        return settings

    def model_post_init(self, origins: object, /) -> None:
        """Keep where the values came from, which `load` passes along beside them."""
        if isinstance(origins, dict):
            self._origins.update(origins)

    def in_force(self) -> list[Setting]:
        """Each setting with its value, secrets masked, and where it came from."""
        listed = []
        for key in setting_keys():
            table, _, leaf = key.partition(".")
            origin = self._origins.get(key, Origin("default"))
            listed.append(Setting(key, _shown(key, getattr(getattr(self, table), leaf)), origin.kind, origin.name))
        return listed


def setting_keys() -> list[str]:
    """Every setting as a dotted key, in the order of the sections."""
    sections: dict[str, type[Section]] = {"llm": Llm, "embeddings": Embeddings, "store": StoreSettings}
    sections |= {"retrieval": Retrieval, "answer": AnswerSettings, "server": Server}
    return [f"{table}.{leaf}" for table, section in sections.items() for leaf in section.model_fields]


def _add_openai(layers: Layers, environ: Mapping[str, str]) -> None:
    """OPENAI_API_KEY and OPENAI_BASE_URL, for openai: models whose own settings are unset."""
    for table in ("llm", "embeddings"):
        if not str(layers.values.get(f"{table}.model", "")).startswith("openai:"):
            continue
        for leaf, name in (("api_key", "OPENAI_API_KEY"), ("base_url", "OPENAI_BASE_URL")):
            value = environ.get(name, "").strip()
            if value and f"{table}.{leaf}" not in layers.values:
                layers.put(f"{table}.{leaf}", value, Origin("environment", name))


def _fault(place: Sequence[int | str], message: str, layers: Layers) -> str:
    key = ".".join(str(part) for part in place[:2])
    text = message.removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{layers.label(key)}: {text[:1].lower() + text[1:]}."


def _shown(key: str, value: object) -> str | int | float | bool | list[str] | None:
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, tuple):
        return [_MASK if key == "server.api_keys" else str(item) for item in value]
    if isinstance(value, str) and key.endswith("url"):
        return _without_password(value)
    return value if isinstance(value, (int, float, bool)) or value is None else str(value)


def _without_password(url: str) -> str:
    try:
        password = urlsplit(url).password
    except ValueError:
        return url
    return url.replace(password, _MASK) if password else url
