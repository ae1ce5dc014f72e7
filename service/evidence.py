"""Hits -> numbered Evidence within the model's budget, and the block the model reads (pure).

Whatever stands in an abstract or a title is data. In the block a number in square brackets is always the number of a
passage, and only we open or close a tag, so: bracketed numbers of the text become ⟦25⟧, our tags lose their angle
bracket, and the control words of chat templates are broken by a space.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from service.spoken import CONTROL_WORDS, TAGS
from vectorstore.paper import Hit, Paper, Passage

_BRACKETED = re.compile(r"[\[【［〔]{1,2}([^\[\]【】［］〔〕]{1,400})[\]】］〕]{1,2}")
_DIGIT = re.compile(r"\d")
_OUR_TAGS = re.compile(r"<(?=[\s/]{0,20}(?:evidence|question|conversation)\b)", re.IGNORECASE)
_TEMPLATE_WORDS = re.compile(
    rf"<(?=[|｜])|(?<=[|｜])>|<(?=/?(?:s|{CONTROL_WORDS}|(?:start|end)_of_turn)>|<?/?SYS>)"
    rf"|<(?=/?(?:{TAGS})\b)|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
_HEADER = re.compile(r"^\[(\d{1,4})\](?: «(.*)»)?$", re.MULTILINE)


class Evidence(NamedTuple):
    """A passage as put before the model, under its number (from 1)."""

    number: int
    passage: Passage
    paper: Paper
    passage_id: str


class Shown(NamedTuple):
    """Evidence as the model sees it: neutralised text."""

    number: int
    title: str
    text: str


def select(hits: Sequence[Hit], budget: int, count: Callable[[str], int]) -> tuple[Evidence, ...]:
    """The best hits, numbered in order, that fit in `budget` tokens together; at least the first, cut to fit."""
    chosen: list[Evidence] = []
    spent = 0
    for hit in hits:
        item = Evidence(len(chosen) + 1, hit.passage, hit.paper, hit.passage.passage_id)
        cost = count(render([item])) + 2
        if spent + cost > budget:
            if not chosen:
                chosen.append(_cut(item, budget, count))
            break
        chosen.append(item)
        spent += cost
    return tuple(chosen)


def _cut(item: Evidence, budget: int, count: Callable[[str], int]) -> Evidence:
    """`item` with its passage shortened so that it fits: a citation can then only point at words that were sent."""
    text = item.passage.text
    while len(text) > 1 and count(render([item])) + 2 > budget:
        text = text[: len(text) * 4 // 5]
        passage = Passage(item.passage.paper_id, item.passage.start, item.passage.start + len(text), text)
        item = item._replace(passage=passage)
    return item


def render(items: Sequence[Evidence]) -> str:
    """The block between <evidence> and </evidence>. `parse` reads it back."""
    return "\n\n".join(f"{_header(item)}\n{neutral(item.passage.text)}" for item in items)


def _header(item: Evidence) -> str:
    if not item.paper.title:
        return f"[{item.number}]"
    return f"[{item.number}] «{' '.join(neutral(item.paper.title).split())}»"


def parse(block: str) -> list[Shown]:
    """The evidence in a rendered block, in order."""
    headers = list(_HEADER.finditer(block))
    ends = [*(header.start() for header in headers[1:]), len(block)]
    return [
        Shown(int(header.group(1)), header.group(2) or "", block[header.end() : end].strip("\n"))
        for header, end in zip(headers, ends, strict=False)
    ]


def neutral(text: str) -> str:
    """`text` with nothing in it that a model or our own parser could take for a mark, a tag or a turn."""
    text = _BRACKETED.sub(_as_text, text)
    return _TEMPLATE_WORDS.sub(_broken, _OUR_TAGS.sub("&lt;", text))


def _as_text(match: re.Match[str]) -> str:
    return f"⟦{match.group(1)}⟧" if _DIGIT.search(match.group(1)) else match.group()


def _broken(match: re.Match[str]) -> str:
    return f" {match.group()}" if match.group() == ">" else f"{match.group()} "
