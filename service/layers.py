"""Where settings come from: loccit.toml, the environment, flags. Pure but for reading the one file.

Each layer is flat: a dotted key ("llm.model") to its raw value, with the name a person knows it by. A key that is
no setting is a fault, and faults are collected, so that a person mends them all at once.
"""

import difflib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

PREFIX = "LOCCIT_"
FILE_VARIABLE = "LOCCIT_CONFIG"
# For docker-compose alone, in the same .env: a shell that has read it passes them on to everything.
COMPOSE_VARIABLES = frozenset(f"{PREFIX}{name}" for name in ("PORT", "DATA", "MEMORY", "CHROMA_MEMORY", "IMAGE_BASE"))
FILE_NAME = "loccit.toml"

Kind = Literal["default", "file", "environment", "flag"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: the kind of place, and the name it had there."""

    kind: Kind
    name: str = ""


@dataclass(slots=True)
class Layers:
    """The values in force, later layers over earlier ones, and everything that is wrong with them."""

    keys: Collection[str]
    values: dict[str, object] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def put(self, key: str, value: object, origin: Origin) -> None:
        """Set a key, over what an earlier layer said."""
        self.values[key] = value
        self.origins[key] = origin

    def add_file(self, path: Path) -> None:
        """Read a TOML file; every key of it must be a setting."""
        table = self._parse(path)
        for key, value in _flatten(table, self.keys):
            if key in self.keys:
                self.put(key, value, Origin("file", f"{key} in {path.name}"))
            else:
                self.faults.append(f"{key} in {path.name} is not a setting{nearest(key, self.keys)}")

    def _parse(self, path: Path) -> Mapping[str, object]:
        try:
            # With a last line end the parser names the line, not just "at end of document".
            return tomllib.loads(path.read_bytes().decode("utf-8-sig") + "\n")
        except OSError as error:
            self.faults.append(f"{path.name} can't be read: {error.strerror or 'it is not a file'}.")
        except UnicodeDecodeError:
            self.faults.append(f"{path.name} is not UTF-8 text.")
        except (ValueError, RecursionError) as error:
            self.faults.append(f"{path.name} is not valid TOML: {_toml_fault(error)}.")
        return {}

    def add_environment(self, environ: Mapping[str, str]) -> None:
        """Read LOCCIT_… variables. An empty one counts as unset: compose files pass those for "not given"."""
        names = {variable(key): key for key in self.keys}
        for name, value in sorted(environ.items()):
            if not name.startswith(PREFIX) or name == FILE_VARIABLE or name in COMPOSE_VARIABLES:
                continue
            if name not in names:
                self.faults.append(f"{name} is not a setting{nearest(name.upper(), [*names, FILE_VARIABLE])}")
            elif not value.isprintable():
                self.faults.append(f"{name} holds characters that can't be printed.")
            elif value.strip():
                self.put(names[name], value.strip(), Origin("environment", name))

    def add_flags(self, flags: Mapping[str, object]) -> None:
        """Values given on the command line, by dotted key; None means the flag was not given."""
        for key, value in flags.items():
            if key not in self.keys:
                self.faults.append(f"{key} is not a setting{nearest(key, self.keys)}")
            elif value is not None:
                self.put(key, value, Origin("flag", "--" + key.rpartition(".")[2].replace("_", "-")))

    def label(self, key: str) -> str:
        """What the person who set `key` called it."""
        origin = self.origins.get(key)
        return origin.name if origin else key

    def nested(self) -> dict[str, dict[str, object]]:
        """The flat values as the tables that the settings are made from."""
        tables: dict[str, dict[str, object]] = {}
        for key, value in self.values.items():
            table, _, leaf = key.partition(".")
            tables.setdefault(table, {})[leaf] = value
        return tables


def variable(key: str) -> str:
    """The environment variable of a setting: llm.model -> LOCCIT_LLM__MODEL."""
    return PREFIX + key.upper().replace(".", "__")


def nearest(wrong: str, right: Collection[str]) -> str:
    """`; did you mean X?` for the nearest right name, or a full stop where none is near."""
    close = difflib.get_close_matches(wrong, right, n=1, cutoff=0.6)
    if not close:
        leaves = {re.split(r"\.|__", name)[-1]: name for name in right}
        close = [leaves[leaf] for leaf in difflib.get_close_matches(re.split(r"\.|__", wrong)[-1], leaves, n=1)]
    return f"; did you mean {close[0]}?" if close else "."


def _flatten(table: Mapping[str, object], keys: Collection[str], prefix: str = "") -> list[tuple[str, object]]:
    flat: list[tuple[str, object]] = []
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, dict) and key not in keys:
            flat.extend(_flatten(value, keys, key + "."))
        else:
            flat.append((key, value))
    return flat


def _toml_fault(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    found = re.fullmatch(r"(.*?) \(at (line \d+), column \d+\)", str(error), re.DOTALL)
    return f"{found[2]}: {found[1]}" if found else str(error)
