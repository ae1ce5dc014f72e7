"""What a model says to the reader, out of what it sends: reasoning, code fences and JSON wrappers left out (pure).

Asked for prose, models send all kinds of things around it: `<think>…</think>`, with the opening tag missing or the
closing one, a fence around everything, a JSON object with the answer in a field.
"""

import json
import re

TAGS = "think|thinking|thought|reasoning|scratchpad|reflection"
CONTROL_WORDS = "eos|bos|pad|unk"
_THOUGHT = re.compile(rf"<({TAGS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(rf"\A.*</(?:{TAGS})>", re.DOTALL | re.IGNORECASE)
# What chat templates put around turns, said aloud by a model whose server does not stop there.
_CONTROL = re.compile(
    rf"<[|｜][^<>|｜\n]{{1,40}}[|｜]>|</?s>|<(?:{CONTROL_WORDS})>|</?(?:start|end)_of_turn>|<</?SYS>>|\[/?INST\]",
    re.IGNORECASE,
)
_FENCED = re.compile(r"\A\s*```[\w-]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_FIELDS = ("answer", "text", "response", "content", "reply", "output", "final_answer")
_LISTS = ("sentences", "answer", "claims")


def spoken(raw: str) -> str:
    """The prose of a reply; "" where it holds none."""
    # A space, because two halves of a tag with nothing between them would make one.
    text = _UNOPENED.sub("", _THOUGHT.sub("", _CONTROL.sub(" ", raw))).strip()
    fenced = _FENCED.match(text)
    text = fenced.group(1).strip() if fenced else text
    return _unwrapped(text) if text[:1] in {"{", "["} else text


def has_thought(raw: str) -> bool:
    """Whether the thoughts in front of a reply, opened or not, have ended."""
    return _UNOPENED.match(raw) is not None


def _unwrapped(text: str) -> str:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _prose(value) or text


def _prose(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(filter(None, map(_sentence, value)))
    if isinstance(value, dict):
        listed = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
        return _prose(next((value[name] for name in _FIELDS if isinstance(value.get(name), str)), listed))
    return ""


def _sentence(value: object) -> str:
    """{"text": "…", "citations": [1, 2]} as prose with marks."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else ""
    cited: object = next((value[name] for name in ("citations", "sources", "evidence", "cites") if name in value), [])
    numbers = cited if isinstance(cited, list) else [cited]
    marks = "".join(f"[{number}]" for number in numbers if isinstance(number, int) and not isinstance(number, bool))
    return f"{_prose(value)} {marks}".strip()
