"""What one field of a record says, in any of the shapes that exports give it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from vectorstore.clean import clean, clean_abstract
from vectorstore.readers.markup import plain

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d|2100)(?!\d)")
_AND = re.compile(r"\s+(?:and|&)\s+|\s*,\s*(?:and|&)\s+")
_SEVERAL = re.compile(r"\s*[;|]\s*")
_AFFILIATION = re.compile(r"\s*\([^()]*\)")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_INITIALS = re.compile(r"(?:[A-Z]\.?[\s-]?){1,4}")
_NO_NAME = re.compile(r"et\s+al\.?|others|jr\.?|sr\.?|i{1,3}|iv|\W*", re.IGNORECASE)
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
# A milliseconds value beyond the year 2100 is no date.
_MILLISECONDS = range(10**11, 4_102_444_800_000)
_DEEPEST = 6
# Names, titles, journals: what is longer is none, and what is behind that is not read.
_LONGEST_LINE = 8_000


def text(value: object) -> str:
    """One clean line of a value; the first that says something of a list."""
    if isinstance(value, list):
        return next(filter(None, (text(one) for one in value if not isinstance(one, list))), "")
    if isinstance(value, Mapping):
        return next((text(value[name]) for name in ("title", "value", "#text") if isinstance(value.get(name), str)), "")
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value != value:  # noqa: PLR0124 - NaN
        return ""
    return " ".join(tidy(str(value)[:_LONGEST_LINE]).split())


def tidy(value: str) -> str:
    """`value` without mark-up, cleaned."""
    before = None
    while before != value:
        before, value = value, clean(plain(value))
    return value


def tidy_abstract(value: str) -> str:
    """An abstract as it is stored. The same for a text from any format, so that a paper read again is the same."""
    before = None
    while before != value:
        before, value = value, clean_abstract(tidy(value))
    return value


def abstract(value: object) -> str:
    """The text of an abstract, as it stands: a string, labelled sections, a list of parts, an inverted index."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_part, value)))
    if isinstance(value, Mapping):
        if value and all(isinstance(places, list) for places in value.values()):
            return _from_inverted_index(value)
        return _part(value) or "\n".join(f"{label}: {part}" for label, part in value.items() if isinstance(part, str))
    return ""


def _part(value: object) -> str:
    """One of several abstracts or descriptions; those that say they are something else are left out."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return ""
    kind = value.get("descriptionType", value.get("type"))
    if isinstance(kind, str) and "abstract" not in kind.lower():
        return ""
    names = ("value", "text", "content", "description", "abstract", "p", "#text")
    found = next((value[name] for name in names if isinstance(value.get(name), str)), "")
    label = value.get("label")
    return f"{label}: {found}" if isinstance(label, str) and label and found else str(found)


def _from_inverted_index(index: Mapping[str, object]) -> str:
    """OpenAlex: word -> its positions. Positions may have gaps."""
    places = [
        (place, word) for word, at in index.items() if isinstance(at, list) for place in at if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(places))


def authors(value: object) -> tuple[str, ...]:
    """Names in order, each once. A list is taken as it is, one text is cut into names."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str) and ";" in value[0]:
        value = value[0]
    if isinstance(value, str):
        names = _names(tidy(value))
    elif isinstance(value, list | Mapping):
        names = [_author(each) for each in (value if isinstance(value, list) else [value])]
    else:
        names = []
    return tuple(dict.fromkeys(name for name in (" ".join(name.split()) for name in names) if name))


def _names(listed: str) -> list[str]:
    if listed[:1] == "[" and listed[-1:] == "]" and (quoted := _QUOTED.findall(listed)):
        return [one or other for one, other in quoted]
    several = _SEVERAL.split(_AFFILIATION.sub("", listed))
    if len(several) == 1:
        several = [name for group in _AND.split(several[0]) for name in _by_comma(group)]
    return [name for name in several if not _NO_NAME.fullmatch(name)]


def _by_comma(names: str) -> list[str]:
    """Ada Lovelace, Alan Turing are two people; Lovelace, Ada is one; Lovelace, A., Turing, A. are two again."""
    parts = [part.strip() for part in names.split(",")]
    if len(parts) % 2 == 0 and all(map(_INITIALS.fullmatch, parts[1::2])):
        return [", ".join(pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    return parts if len(parts) > 2 or all(" " in part for part in parts) else [names]


def _author(value: object) -> str:
    if isinstance(value, list):  # arXiv's authors_parsed: family, given, suffix
        return " ".join(part for part in (text(value[1:2]), text(value[:1])) if part)
    if not isinstance(value, Mapping):
        return text(value)
    inner = value.get("author")
    value = {**value, **inner} if isinstance(inner, Mapping) else value
    given = text(value.get("given") or value.get("firstName") or value.get("givenName"))
    family = text(value.get("family") or value.get("lastName") or value.get("familyName"))
    if family:
        return f"{given} {family}".strip()
    names = ("name", "display_name", "displayName", "fullname", "fullName", "literal", "raw_author_name")
    return next(filter(None, (text(value.get(name)) for name in names)), given)


def year(value: object) -> int | None:
    """The year of a date in any shape: 2024, "2024-05-01", {"date-parts": [[2024, 5]]}, milliseconds since 1970."""
    found = _YEAR.search(_date(value))
    return int(found.group(1)) if found else None


def _date(value: object, depth: int = 0) -> str:
    if depth > _DEEPEST or isinstance(value, bool):
        return ""
    if isinstance(value, Mapping):
        names = ("date-parts", "raw", "value", "created", "year", "$date", "date")
        return _date(next((value[name] for name in names if value.get(name)), ""), depth + 1)
    if isinstance(value, list):
        return _date(value[0], depth + 1) if value else ""
    if isinstance(value, int) and value in _MILLISECONDS:
        return str(datetime.fromtimestamp(value / 1000, UTC).year)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)[:100]


def venue(value: object, depth: int = 0) -> str:
    """The name of where it appeared."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        names = ("source", "name", "display_name", "title", "journal")
        return next(filter(None, (venue(value.get(name), depth + 1) for name in names)), "")
    return text(value)


def url(value: object) -> str:
    """The first web address; nothing else is one (`javascript:` would run in a page that shows it)."""
    if isinstance(value, list):
        return next(filter(None, map(url, [one for one in value if not isinstance(one, list)])), "")
    if isinstance(value, Mapping):
        names = ("url", "URL", "landing_page_url", "pdf_url", "href")
        return next(filter(None, (url(value[name]) for name in names if isinstance(value.get(name), str))), "")
    found = clean(value) if isinstance(value, str) else ""
    return found if _URL.fullmatch(found) else ""


def identifier(value: object, kind: str) -> str:
    """An identifier of one kind ("doi", "arxiv"): by itself, or in a table or a list of identifiers."""
    if isinstance(value, Mapping):
        return next((text(each) for name, each in value.items() if name.casefold() == kind), "")
    if isinstance(value, list):
        typed = [each for each in value if isinstance(each, Mapping)]
        kinds = ("idtype", "type", "identifierType", "scheme")
        names = ("value", "id", "identifier")
        return next(
            (
                text([each.get(name) for name in names])
                for each in typed
                if any(str(each.get(one)).casefold() == kind for one in kinds)
            ),
            text(value),
        )
    return text(value)
