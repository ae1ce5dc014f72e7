"""What is not text goes, what is stays: LaTeX, mathematics and every letter (pure, idempotent)."""

import html
import re
import unicodedata
from html.entities import name2codepoint

_SPACES = dict.fromkeys([0x09, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_LINE_ENDS = dict.fromkeys([0x0D, 0x2028, 0x2029], "\n")
_UNPRINTABLE = [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]
_INVISIBLE = [0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF]
_NO_ABSTRACT = re.compile(
    r"\W*(?:no (?:abstract|summary)(?: (?:is |was )?(?:available|provided))?"
    r"|(?:abstract |summary )?(?:not |un)available|summary form only given(?: as follows)?|n/?a|nan|none|null)?\W*",
    re.IGNORECASE,
)
# Ten times the longest abstracts there are: what is longer is a whole text or no text at all.
LONGEST = 60_000
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
# Windows-1252 read as Latin-1: its quotation marks and dashes arrive as control characters.
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
_TABLE: dict[int, str | None] = {
    **dict.fromkeys([*_UNPRINTABLE, *_INVISIBLE]),
    **_SPACES,
    **_LINE_ENDS,
    **_LIGATURES,
    **_WINDOWS,
}
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|(?P<name>[A-Za-z]{2,8}[1-4]{0,2}));")
# "&amp;amp;amp;lt;": one pass a level would cost the square of their number.
_NESTED = re.compile(r"&(?:(?:amp|#0{0,5}38|#[xX]0{0,4}26);)+")
_SOFT_BREAK = re.compile(r"\u00ad\s*\n\s*")

# UTF-8 that was read as Windows-1252 and saved again: a lead and as many followers as it announces.
_BYTES = {character: code for code, character in _WINDOWS.items() if character} | {
    chr(c): c for c in range(0x80, 0x100)
}
_FOLLOWER = "[" + "".join(character for character, code in _BYTES.items() if code < 0xC0) + "]"
_GARBLED = re.compile(f"[\u00c2-\u00df]{_FOLLOWER}|[\u00e0-\u00ef]{_FOLLOWER}{{2}}|[\u00f0-\u00f4]{_FOLLOWER}{{3}}")
_ACCENTED = re.compile("[\u00c0-\u00ff]")

_STARTERS = "We|Our|In|The|This|These|It|To|For|A|An|As|By|On|With|While|Recent|Recently|Many|Most"
_LABEL = re.compile(
    r"\A(?:abstract|summary)(?:\s*[:.\u2014]\s*|\s*\u2013\s+|\s+-+\s+|\s*\n\s*)(?=\S)"
    rf"|\A(?-i:Abstract|ABSTRACT|abstract)\s*(?=(?-i:{_STARTERS})\s)|\A(?-i:Abstract(?=[A-Z][a-z]))",
    re.IGNORECASE,
)
_RIGHTS = r"(?:copyright\s{0,3})?(?:©|\(c\)|copyright)\s{0,3}(?:copyright\b)?\s{0,3},?\s{0,3}(?:19|20)\d\d\b"
_RIGHTS_BEHIND = re.compile(rf"(?:(?<=[.!?\"”)\]])\s{{0,9}}|\n\s{{0,9}}){_RIGHTS}[^\n]{{0,160}}\Z", re.IGNORECASE)
_RIGHTS_BEFORE = re.compile(
    rf"\A{_RIGHTS}[^.\n]{{1,80}}\.(?:\s?V\.)?(?:\s*All rights reserved\.)?\s*(?=[A-Z])", re.IGNORECASE
)
_PARAGRAPHS = re.compile(r"\n[ ]*\n\s*")
_LISTED = re.compile(r"\s*(?:[-*•–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")
# Hard-wrapped lines are about this long; shorter and longer ones end where their writer wanted.
_WRAPPED = range(50, 131)


def clean(text: str) -> str:
    """`text` as it is stored: line ends, entities, ligatures and composition mended, what can't be seen removed."""
    before = None
    while before != text:
        before, text = text, _once(text)
    return text


def clean_abstract(text: str) -> str:
    """`clean`, less the word "Abstract" and the copyright lines that exports glue on, hard-wrapped lines joined."""
    before = None
    while before != text:
        before, text = text, _unglued(clean(text))
    return text


def why_no_abstract(abstract: str) -> str | None:
    """Why a cleaned text can't be stored as an abstract; None if it can."""
    if _NO_ABSTRACT.fullmatch(abstract):
        return "no abstract"
    if len(abstract) > LONGEST:
        return f"its abstract has {len(abstract):,} characters; at most {LONGEST:,} are taken"
    return None


def _once(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if not text.isascii():
        text = _SOFT_BREAK.sub("", _ungarbled(text))
    text = text.translate(_TABLE)
    if "&" in text:
        text = _ENTITY.sub(_letter, _NESTED.sub("&", text))
    return unicodedata.normalize("NFC", text).strip()


def _letter(entity: re.Match[str]) -> str:
    name = entity.group("name")
    return html.unescape(entity.group()) if name in {None, "apos"} or name in name2codepoint else entity.group()


def _ungarbled(text: str) -> str:
    """The text before it was read in the wrong encoding, where that is certain: no accented letter is left over."""
    garbled = list(_GARBLED.finditer(text))
    if not garbled or (len(garbled) == 1 and garbled[0].group()[0] not in "ÂÃâ"):
        return text
    if sum(len(_ACCENTED.findall(match.group())) for match in garbled) != len(_ACCENTED.findall(text)):
        return text
    try:
        return _GARBLED.sub(lambda match: bytes(_BYTES[each] for each in match.group()).decode(), text)
    except UnicodeDecodeError:
        return text


def _unglued(text: str) -> str:
    text = _LABEL.sub("", text, count=1)
    text = _RIGHTS_BEHIND.sub("", _RIGHTS_BEFORE.sub("", text, count=1), count=1)
    return "\n\n".join(map(_unwrapped, _PARAGRAPHS.split(text))) if "\n" in text else text


def _unwrapped(paragraph: str) -> str:
    lines = paragraph.split("\n")
    wrapped = all(len(line.rstrip()) in _WRAPPED for line in lines[:-1])
    if wrapped and not any(_LISTED.match(line) for line in lines):
        return " ".join(line.strip() for line in lines)
    return paragraph
