"""Settings that load without a fault, and yet can't be meant as they are (pure)."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

from service.config import Llm, Setting, Settings, is_loopback
from service.doctor.findings import Finding
from service.errors import ConfigError
from service.models.endpoint import is_local, normalise_base_url

OFFLINE = "offline:extractive"


def of_faults(error: ConfigError) -> list[Finding]:
    """A Finding for each fault that kept the settings from loading."""
    return [Finding("configuration", "settings", "fault", line) for line in _lines(error)]


def of_settings(settings: Settings) -> Iterator[Finding]:
    """Where the settings in force came from, and those that defeat one another."""
    origins = Counter(_place(setting) for setting in settings.in_force() if setting.origin != "default")
    places = ", ".join(f"{number} from {place}" for place, number in sorted(origins.items()))
    yield Finding("configuration", "settings", "ok", f"valid: {places}" if places else "valid: all defaults")
    llm = settings.llm
    if llm.model == OFFLINE and (llm.base_url or llm.api_key):
        yield _warning("llm.base_url or llm.api_key is set, and no model is", 'set llm.model, as in "openai:NAME"')
    if settings.answer.drafts > 1 and llm.temperature == 0 and llm.model != OFFLINE:
        yield _warning(
            f"{settings.answer.drafts} drafts at temperature 0 are all the same", "set llm.temperature = 0.7"
        )
    if _key_in_the_clear(llm):
        yield _warning("llm.api_key goes to another machine without encryption", "set llm.base_url to https://…")
    if settings.server.allow_anonymous and not is_loopback(settings.server.host):
        yield _warning(f"anybody who reaches {settings.server.host} may ask, add and delete", "set server.api_keys")


def _place(setting: Setting) -> str:
    if setting.origin == "file":
        return setting.name.rpartition(" in ")[2]
    return "flags" if setting.origin == "flag" else "the environment"


def _warning(found: str, change: str) -> Finding:
    return Finding("configuration", "settings", "warning", found, change)


def _key_in_the_clear(llm: Llm) -> bool:
    if llm.api_key is None or llm.base_url is None:
        return False
    try:
        parts = urlsplit(normalise_base_url(llm.base_url))
    except ConfigError:
        return False  # said where the model is set up
    return parts.scheme == "http" and not is_local(parts.hostname or "")


def _lines(error: ConfigError) -> list[str]:
    return [line for line in str(error).splitlines() if line.strip()]
