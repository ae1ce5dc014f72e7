"""HTML, JATS and MathML in an abstract or title -> plain text. What only looks like a tag (`a<b and c>d`) stays."""

import re
from collections.abc import Set as AbstractSet

_BLOCKS = frozenset("p div br hr li ul ol dl dt dd h1 h2 h3 h4 h5 h6 sec section title label list list-item".split())
_INLINE = frozenset(
    "i b em strong sub sup inf italic bold sc span a u tt small font abstract abstracttext monospace underline roman"
    " styled-content named-content ext-link xref inline-formula disp-formula alternatives inline-graphic graphic"
    " tex-math math semantics".split()
)
_VOID = frozenset({"br", "hr", "inline-graphic", "graphic"})
_PREFIXED = ("jats:", "mml:")

_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))*"
_TAG = re.compile(rf"<(?P<close>/?)(?P<name>[a-zA-Z][\w:.-]*){_ATTRIBUTES}\s*(?P<empty>/?)>")
_COMMENT = re.compile(r"<!--.*?-->|<\?xml.*?\?>", re.DOTALL)
_POWER = re.compile(r"(?<=\d)<((?:jats:)?sup)>\s*([^<]+?)\s*</\1>", re.IGNORECASE)
_HEADING = re.compile(r"<((?:jats:)?title)>\s*([^<]*?)[\s:.]*</\1>(?:\s*<(?:jats:)?p\b[^<>]*>)?", re.IGNORECASE)
_FORMULA = re.compile(r"<((?:mml:)?math)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_ANNOTATION = re.compile(r"<((?:mml:)?annotation(?:-xml)?)\b([^>]*)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_ALTERNATIVES = re.compile(r"<((?:jats:)?alternatives)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TEX = re.compile(r"<((?:jats:)?tex-math)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TEX_FILE = re.compile(r".*\\begin\{document\}(.*?)\\end\{document\}.*", re.DOTALL)


def plain(text: str) -> str:
    """`text` without mark-up: sections as "Label: text", 10<sup>5</sup> as 10^5, each formula once."""
    if "<" not in text:
        return text
    text = _COMMENT.sub("", text)
    text = _ALTERNATIVES.sub(_tex_of, text)
    text = _FORMULA.sub(_formula, text)
    text = _TEX.sub(lambda found: _as_mathematics(found.group(2)), text)
    text = _POWER.sub(r"^\2", text)
    text = _HEADING.sub(lambda found: f"\n{found.group(2)}: " if found.group(2) else "\n", text)
    closed = {tag.group("name").lower() for tag in _TAG.finditer(text) if tag.group("close")}
    return _TAG.sub(lambda tag: _without(tag, closed), text)


def _without(tag: re.Match[str], closed: AbstractSet[str]) -> str:
    """Nothing or a line end for a real tag: of a known name, and closed somewhere. Anything else stays."""
    name = tag.group("name").lower()
    short = name.rpartition(":")[2]
    if not name.startswith(_PREFIXED):
        known = name in _BLOCKS | _INLINE
        if not known or not (name in closed or tag.group("empty") or name in _VOID):
            return tag.group()
    return "\n" if short in _BLOCKS else ""


def _tex_of(alternatives: re.Match[str]) -> str:
    """One of several forms of a formula: the TeX if there is one."""
    found = _TEX.search(alternatives.group(2))
    return found.group() if found else alternatives.group(2)


def _formula(formula: re.Match[str]) -> str:
    for found in _ANNOTATION.finditer(formula.group(2)):
        if "tex" in found.group(2).lower():
            return _as_mathematics(found.group(3))
    return "".join(part.strip() for part in re.split(r"<[^<>]*>", _ANNOTATION.sub("", formula.group(2))))


def _as_mathematics(tex: str) -> str:
    tex = _TEX_FILE.sub(r"\1", tex).strip()
    return tex if tex.startswith(("$", "\\(", "\\[")) or not tex else f"${tex}$"
