"""The words put before a language model, as files that people edit, and their one reader.

A prompt is a Markdown file: front matter (`version`, `purpose`, `inputs`, `changes`), then one section a message,
headed `# System` or `# User`, with `$name` placeholders. A value is substituted once and never read
again, so nothing in an abstract or a question can act as a placeholder.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template


class PromptError(Exception):
    """A prompt file is malformed, or was given other inputs than it declares."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its declared inputs. `messages` holds (role, template) pairs in order."""

    name: str
    version: int
    purpose: str
    inputs: frozenset[str]
    messages: tuple[tuple[str, str], ...]

    @property
    def tag(self) -> str:
        """`name@version#hash`: travels in the Answer, so that an edit without a new version is seen."""
        body = "\0".join(f"{role}\0{template}" for role, template in self.messages)
        return f"{self.name}@{self.version}#{hashlib.sha256(body.encode()).hexdigest()[:8]}"

    def render(self, **values: str) -> list[tuple[str, str]]:
        """(role, text) pairs with every placeholder filled. Raises PromptError naming what is missing or unknown."""
        if values.keys() != self.inputs:
            missing, unknown = sorted(self.inputs - values.keys()), sorted(values.keys() - self.inputs)
            raise PromptError(f"prompt {self.name}: missing inputs {missing}, unknown inputs {unknown}")
        return [(role, Template(template).substitute(values)) for role, template in self.messages]


@cache
def load(name: str) -> Prompt:
    """The prompt in `prompts/<name>.md`. Raises PromptError where the file is absent or malformed."""
    try:
        text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PromptError(f"no prompt named {name}") from None
    return parse(name, text)


def parse(name: str, text: str) -> Prompt:
    """The prompt written in `text`. Raises PromptError naming what is wrong with it."""
    _, _, rest = text.partition("---\n")
    head, found, body = rest.partition("\n---\n")
    if not found:
        raise PromptError(f"prompt {name}: no front matter between two lines of ---")
    fields = dict(_field(name, line) for line in head.splitlines() if line and not line.startswith(" "))
    inputs = frozenset(fields.get("inputs", "").replace(",", " ").split())
    messages = tuple(_messages(name, body))
    used = {found for _, template in messages for found in Template(template).get_identifiers()}
    if used != inputs:
        raise PromptError(f"prompt {name}: declares {sorted(inputs)}, uses {sorted(used)}")
    if not fields.get("version", "").isdigit():
        raise PromptError(f"prompt {name}: version must be a whole number")
    return Prompt(name, int(fields["version"]), fields.get("purpose", ""), inputs, messages)


def _field(name: str, line: str) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon:
        raise PromptError(f"prompt {name}: not a 'key: value' line: {line}")
    return key.strip(), value.strip()


def _messages(name: str, body: str) -> list[tuple[str, str]]:
    headings = {"# System": "system", "# User": "user"}
    messages: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line in headings:
            messages.append((headings[line], []))
        elif messages:
            messages[-1][1].append(line)
        elif line.strip():
            raise PromptError(f"prompt {name}: text before the first # System or # User heading")
    return [(role, "\n".join(lines).strip()) for role, lines in messages]
