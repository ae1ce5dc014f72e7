"""Twelve canned prompts, made as real ones are, and how well the model obeyed them (pure)."""

from collections.abc import Sequence
from typing import NamedTuple

import prompts
from service import citations
from service.doctor.findings import Finding
from service.evidence import Evidence, neutral, render
from service.reply import says_no_answer
from service.spoken import spoken
from vectorstore.paper import Paper, Passage

# (abstract, question): invented, so that nothing can be answered from memory.
_CANNED = (
    ("We introduce Tarnish, an optimiser that needs 40 % less memory than Adam.", "How much memory does Tarnish save?"),
    ("Grelm is a parser for Basque that was trained on 900 sentences.", "On how many sentences was Grelm trained?"),
    ("The drug velocrine did not lower blood pressure in 212 patients.", "Does velocrine lower blood pressure?"),
    ("Our telescope survey found 17 comets beyond the orbit of Neptune.", "How many comets did the survey find?"),
    ("Heat pumps in Lapland failed below minus 31 degrees.", "Below which temperature did heat pumps fail in Lapland?"),
    ("Quillnet compresses music to 3 kilobits a second.", "Who paid for the work on Quillnet?"),
    ("Bees that were fed caffeine returned to the same flower twice as often.", "What did caffeine do to bees?"),
    ("We prove that Morrow's game ends after at most 58 moves.", "After how many moves does Morrow's game end?"),
    ("Soil from Utrecht held more plastic than soil from Ghent.", "Which soil held more plastic?"),
    ("The Delmar index predicts migraine one day ahead.", "What does the Delmar index predict?"),
    ("Vosk-2 translates Sardinian with half the errors of Vosk-1.", "How do the errors of Vosk-2 compare with Vosk-1?"),
    ("Concrete with rice husks hardened in nine hours.", "In which country was the rice grown?"),
)
# Their question is not answered by any passage.
UNANSWERABLE = frozenset({5, 11})
NUMBER = len(_CANNED)
_WELL, _PATIENT = 0.8, 2


class Canned(NamedTuple):
    """A prompt, the numbers of its passages, and the one that answers it; None where none does."""

    messages: list[tuple[str, str]]
    sent: frozenset[int]
    right: int | None


class Obeyed(NamedTuple):
    """How one reply took the rules: its sentences, those with a valid mark, marks of passages that were not sent."""

    sentences: int
    marked: int
    illegal: int
    right: bool
    declined: bool
    answerable: bool


def canned(which: int) -> Canned:
    """Prompt `which` of NUMBER: three passages, the one asked about at a place that changes."""
    shown = [which, (which + 4) % NUMBER, (which + 7) % NUMBER]
    place = which % len(shown)
    shown = shown[-place:] + shown[:-place] if place else shown
    evidence = [_evidence(number, _CANNED[one][0]) for number, one in enumerate(shown, 1)]
    messages = prompts.load("answer").render(evidence=render(evidence), question=neutral(_CANNED[which][1]))
    right = None if which in UNANSWERABLE else place + 1
    return Canned(messages, frozenset(range(1, len(shown) + 1)), right)


def _evidence(number: int, text: str) -> Evidence:
    passage = Passage(f"canned:{number}", 0, len(text), text)
    return Evidence(number, passage, Paper(passage.paper_id, text), passage.passage_id)


def obeyed(reply: str, asked: Canned) -> Obeyed:
    """A reply against the rules that it was given."""
    text = spoken(reply)
    if says_no_answer(text):
        return Obeyed(0, 0, 0, right=False, declined=True, answerable=asked.right is not None)
    read = citations.read(text, asked.sent)
    return Obeyed(
        sentences=len(read.claims),
        marked=sum(bool(claim.cited) for claim in read.claims),
        illegal=len(read.illegal),
        right=any(asked.right in claim.cited for claim in read.claims),
        declined=False,
        answerable=asked.right is not None,
    )


def of_obedience(all_obeyed: Sequence[Obeyed]) -> Finding:
    """How well the rules are obeyed. Where they are not, our checks mend it, and some answers are lost."""
    answerable = [each for each in all_obeyed if each.answerable]
    others = [each for each in all_obeyed if not each.answerable]
    sentences = sum(each.sentences for each in answerable)
    marked = sum(each.marked for each in answerable)
    illegal = sum(each.illegal for each in all_obeyed)
    silent = sum(each.declined for each in answerable)
    told = [
        f"{marked} of {sentences} sentences with a valid mark",
        f"{illegal} marks of passages that were not sent",
        f"the right passage cited in {sum(each.right for each in answerable)} of {len(answerable)}",
        f"NO ANSWER to {sum(each.declined for each in others)} of {len(others)} questions without one",
    ]
    if silent:
        told.append(f"and to {silent} that have one")
    if len(all_obeyed) < NUMBER:
        told.append(f"only {len(all_obeyed)} of {NUMBER} prompts were asked, for time")
    well = sentences > 0 and marked >= _WELL * sentences and not illegal and silent <= _PATIENT
    if well and all(each.declined for each in others):
        return Finding("model", "citations", "ok", "; ".join(told))
    change = "every citation is checked anyway; set llm.model to a larger one, or answer.drafts = 3 with a temperature"
    return Finding("model", "citations", "warning", "; ".join(told), change)
