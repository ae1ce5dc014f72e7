"""Marks in a draft -> which evidence each sentence claims (pure).

Models spell marks in many ways: `[1]`, `[ 2 ]`, `[2.]`, `[Source 2]`, `[1, 2]`, `[1-3]`, `【1†L3】`, `[[4]]`, `[^5]`.
All are understood, only numbers that were sent are kept, and no mark of the draft reaches the reader: the answer's
marks are written anew from what was checked. Digits of the text are never touched.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from service import words
from vectorstore.sentences import sentences

_LABELS = (
    "source|reference|ref|evidence|passage|citation|cite|document|doc|paper|abstract|excerpt|chunk|hit|item|id|see"
    "|page|pp?|no|nr|[#^]"
)
# White space, emphasis, and what can't be seen: models put them between brackets and numbers.
_INVISIBLE = r"\u00ad\u200b-\u200f\u2060\ufeff"
_UNSEEN = re.compile(rf"[{_INVISIBLE}]")
_GAP = rf"[\s*_`{_INVISIBLE}]"
_DIGITS = rf"\d(?:[{_INVISIBLE}]{{0,2}}\d)*"
# Bounded repetitions, and no two side by side that can match the same text: what a draft or an abstract makes these
# patterns try must not be able to stop the service.
_LABEL = rf"(?:(?:{_LABELS})s?\.?{_GAP}{{0,3}}(?:[:#.]{_GAP}{{0,3}})?){{0,2}}"
_JOINT = r"(?:\s{0,3}(?:,|;|&|/|，|、|；|and|to|-|–|—|\.\.)\s{0,3}|\s{1,3})"
_MARK = re.compile(
    rf"(?P<open>\\?[\[【［〔]{{1,2}}){_GAP}{{0,4}}(?P<body>{_LABEL}{_DIGITS}(?:{_JOINT}{_LABEL}{_DIGITS}){{0,200}})"
    rf"{_GAP}{{0,4}}(?:\.{_GAP}{{0,4}})?"
    r"(?:[†:|][^\[\]【】\n]{0,80})?\\?[\]】］〕]{1,2}"
    r"(?P<link>\(\s{0,3}(?:https?:|#|www\.)[^()\s]{0,300}\))?",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"(?<![\w\])])\[{1,2}\s*(?:n|x|i|k|\?|\.\.\.|…|number|num|citation(?: needed)?|source|passage|ref(?:erence)?"
    r"|passage number|mark|id)\s*\]{1,2}",
    re.IGNORECASE,
)
_CUT_MARK = re.compile(rf"[\[【［〔]{{1,2}}\s{{0,3}}{_LABEL}\d(?:[\s\d,;&/，、；–—.-]|and\b|to\b)*\Z", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\s{0,3}(?:-|–|—|to|\.\.)\s{0,3}(\d+)", re.IGNORECASE)
_LAYOUT = re.compile(r"[ \t]*(?:[-*•+]|\d{1,2}[.)]|#{1,6})[ \t]+")


class Claim(NamedTuple):
    """A sentence of the draft without marks, what stands before it (line breaks, bullets), and what it cites."""

    lead: str
    text: str
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claims:
    """A draft taken apart. `illegal` lists marks, as spelled, whose numbers were never sent."""

    claims: tuple[Claim, ...]
    illegal: tuple[str, ...]


def read(draft: str, sent: Collection[int]) -> Claims:
    """The claims of `draft`, given the numbers of the evidence that was sent. Total: any string works."""
    text, marks, illegal = _take_out_marks(_MARK.sub(partial(_or_interval, _mathematics(draft)), draft), sent)
    claims: list[Claim] = []
    end_of_last = 0
    spans = _spans(text)
    for index, (start, end) in enumerate(spans):
        until = spans[index + 1][0] if index + 1 < len(spans) else len(text)
        since = 0 if index == 0 else start
        cited = tuple(
            dict.fromkeys(n for place, ns in marks for n in ns if since < place <= until or (place == 0 and index == 0))
        )
        claims.append(Claim(text[end_of_last:start], text[start:end], cited))
        end_of_last = end
    return Claims(tuple(claims), illegal)


# "[2] shows that …": the mark is the subject of its sentence, and a sentence needs one.
_SUBJECT = re.compile(r".*[.!?:\n]\s*", re.DOTALL)
_VERB = re.compile(r"\s+[a-z]")
_CLOSES_UP = frozenset(" \n.,;:!?)[【。") | {""}


def without_illegal(draft: str, sent: Collection[int]) -> str:
    """The draft as it was said, less the marks whose numbers were never sent."""
    kept = []
    position = 0
    for start, end, numbers in _marks(draft):
        if not any(number in sent for number in numbers):
            kept.append(draft[position:start].rstrip(" "))
            position = end
    return _MARK.sub(lambda match: _if_sent(match, sent), "".join([*kept, draft[position:]]))


def _if_sent(match: re.Match[str], sent: Collection[int]) -> str:
    """A mark that is left, or, where taking one out made it, its text."""
    legal = any(number in sent for number in _numbers(match.group("body")))
    return match.group() if legal else match.group().translate(_AS_TEXT)


def _take_out_marks(draft: str, sent: Collection[int]) -> tuple[str, list[tuple[int, list[int]]], tuple[str, ...]]:
    """The text without marks; (place in that text, numbers) of each legal mark; the illegal ones."""
    kept: list[str] = []
    length = position = 0
    marks: list[tuple[int, list[int]]] = []
    illegal: list[str] = []
    for start, end, numbers in _marks(draft):
        before = draft[position:start]
        if _SUBJECT.fullmatch(before[-3:] or ".") and _VERB.match(draft, end):
            before += "This paper"
        elif draft[end : end + 1] in _CLOSES_UP:
            before = before.rstrip(" \t\u00a0\u202f")
        kept.append(before)
        length += len(before)
        position = end
        legal = [number for number in numbers if number in sent]
        marks.append((length, legal))
        if len(legal) < len(numbers) or not numbers:
            illegal.append(draft[start:end])
    kept.append(draft[position:])
    # Taking "[7]" out of "[1[7]2]" makes a new mark: what now looks like one is text.
    text = _MARK.sub(lambda match: match.group().translate(_AS_TEXT), "".join(kept))
    return text, marks, tuple(illegal)


_AS_TEXT = str.maketrans("[]【】［］〔〕", "⟦⟧⟦⟧⟦⟧⟦⟧")


def _marks(draft: str) -> list[tuple[int, int, list[int]]]:
    """(start, end, numbers) of everything in the draft that is meant as a mark, in order."""
    found = [(match.start(), match.end(), _numbers(match.group("body"))) for match in _MARK.finditer(draft)]
    mathematics = _mathematics(draft)
    found += [(one.start(), one.end(), []) for one in _PLACEHOLDER.finditer(draft) if not _inside(one, mathematics)]
    cut = _CUT_MARK.search(draft)
    if cut and not any(start <= cut.start() < end for start, end, _ in found):
        found.append((cut.start(), cut.end(), []))
    return sorted(found)


def _mathematics(draft: str) -> list[tuple[int, int]]:
    return [match.span() for match in words.MATH.finditer(draft)]


def _inside(match: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    return any(start < match.start() < end for start, end in spans)


def _or_interval(mathematics: list[tuple[int, int]], match: re.Match[str]) -> str:
    """`match` itself, or ⟦0, 1⟧ where the brackets are mathematics: no passage has the number 0."""
    numbers = _numbers(match.group("body"))
    if _inside(match, mathematics) or (len(numbers) > 1 and 0 in numbers):
        return f"⟦{match.group('body')}⟧{match.group('link') or ''}"
    return match.group()


def _numbers(body: str) -> list[int]:
    numbers: list[int] = []
    body = _UNSEEN.sub("", body)
    for match in re.finditer(rf"{_RANGE.pattern}|\d+", body, re.IGNORECASE):
        if match.group(1):
            first, last = int(match.group(1)[:9]), int(match.group(2)[:9])
            numbers.extend(range(first, last + 1) if 0 <= last - first <= 100 else (first, last))
        else:
            numbers.append(int(match.group()[:9]))
    return numbers


def _spans(text: str) -> list[tuple[int, int]]:
    """Sentences of a draft: line by line, bullets and list numbers left out of them."""
    spans: list[tuple[int, int]] = []
    offset = 0
    for line in text.split("\n"):
        layout = _LAYOUT.match(line)
        left = layout.end() if layout else 0
        spans.extend((offset + left + start, offset + left + end) for start, end in sentences(line[left:]))
        offset += len(line) + 1
    return spans


_FINAL = re.compile(r"""(?:[.!?…。！？:;,]+["'”’»)\]*_]*|["'”’»)*_]+)$""")
_LONGEST_END = 40


def as_text(text: str) -> str:
    """`text` with nothing in it that could be taken for a placeholder of a mark: [n] -> ⟦n⟧."""
    return _PLACEHOLDER.sub(lambda match: match.group().translate(_AS_TEXT), text)


def with_marks(text: str, numbers: Sequence[int]) -> str:
    """`text` with its marks before the final punctuation, as in "It is so [1][2]."."""
    if not numbers:
        return text
    last = max(0, len(text) - _LONGEST_END)  # the pattern costs the square of what it looks at
    final = _FINAL.search(text, last)
    at = final.start() if final and final.start() else len(text)
    return f"{text[:at].rstrip()} {''.join(f'[{number}]' for number in numbers)}{text[at:]}"
