"""What is not text goes, what is stays: LaTeX, mathematics and every letter (pure, idempotent)."""

import html
import re
import unicodedata

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ENTITY = re.compile(
    r"&(?:#\d{2,6}|#[xX][0-9a-fA-F]{2,5}|amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|[lr][sd]quo|times|alpha|beta|gamma|mu|deg);"
)
_LABEL = re.compile(
    r"^\s*(?:abstract|summary)(?:\s*[:.\u2014\u2013-]\s*|\s*\n\s*)(?=\S)|^Abstract(?=[A-Z][a-z])", re.IGNORECASE
)
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}


def clean(text: str) -> str:
    """`text` as it is stored: line ends, entities, ligatures and composition mended, what can't be seen removed."""
    before = None
    while before != text:
        before, text = text, _once(text)
    return text


def clean_abstract(text: str) -> str:
    """`clean`, less the word "Abstract" that exports glue in front."""
    return clean(_LABEL.sub("", clean(text), count=1))


def _once(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = _INVISIBLE.sub("", _CONTROL.sub("", text))
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    text = "".join(_LIGATURES.get(letter, letter) for letter in text)
    return unicodedata.normalize("NFC", text.replace("\u00a0", " ")).strip()
