"""A draft -> what the reader may see of it, and the abstracts' own words where nothing of it holds."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple

from service import citations
from service.compose import Composed, compose
from service.domain import Dropped, Verify
from service.judge import WHY, Judge
from service.minilm import MiniLM
from service.offline import Extractive
from service.reply import EXTRACTED, NOTHING, NOTHING_HOLDS, SAID_NOTHING, says_no_answer
from service.retrieval import Prepared
from service.spoken import spoken
from service.verify import Check, Verifier

# A model that runs on must not keep the checks busy for minutes: what is asked takes four sentences.
MOST_CLAIMS = 40
TOO_MANY = f"it comes behind {MOST_CLAIMS} others, and no more are checked"


class Checked(NamedTuple):
    """The composed answer, a note on what happened to the draft, and how many of its sentences hold."""

    composed: Composed
    note: str | None
    supported: int
    sentences: int


class Checker:
    """Checks drafts of one model; `extractive`: whether that model is our own, whose word is the abstracts'."""

    def __init__(self, minilm: MiniLM, *, extractive: bool, judge: Judge | None = None) -> None:
        self._minilm = minilm
        self._extractive = extractive
        self._judge = None if extractive else judge

    def check(self, draft: str, prepared: Prepared, mode: Verify, ends: float = inf) -> Checked:
        """What may be shown of `draft`; the extractive answer where it is empty or nothing of it holds.

        `ends`, on the monotonic clock in seconds: from then on nothing is asked of the judge.
        """
        text = draft if self._extractive else spoken(draft)
        if says_no_answer(text):
            return Checked(NOTHING, None, 0, 0)
        composed, checks = self._compose(text, prepared, mode, ends)
        supported = sum(check.verdict == "supported" for check in checks)
        holds = (mode == "off" and checks) or any(check.verdict != "unsupported" for check in checks)
        if holds or self._extractive:
            return Checked(composed, None, supported, len(checks))
        return self._instead(composed, prepared, mode, bool(checks))

    def _instead(self, composed: Composed, prepared: Prepared, mode: Verify, said: bool) -> Checked:
        extract = str(Extractive(embedding=self._minilm).invoke(prepared.messages).content)
        if says_no_answer(extract):
            return Checked(NOTHING, NOTHING_HOLDS if said else None, 0, 0)
        again, checks = self._compose(extract, prepared, mode, -inf)
        dropped = (*composed.dropped, *_given_up(composed), *again.dropped)
        return Checked(again._replace(dropped=dropped), EXTRACTED if said else SAID_NOTHING, 0, len(checks))

    def _compose(self, text: str, prepared: Prepared, mode: Verify, ends: float) -> tuple[Composed, Sequence[Check]]:
        claims = citations.read(text, prepared.numbers)
        left_out = tuple(Dropped(text=claim.text, why=TOO_MANY) for claim in claims.claims[MOST_CLAIMS:])
        claims = replace(claims, claims=claims.claims[:MOST_CLAIMS])
        verifier = Verifier(prepared.evidence, self._minilm.token_vectors)
        look = verifier.locate if mode == "off" else verifier.check
        checks = [look(claim.text, claim.cited) for claim in claims.claims]
        if self._judge is not None and mode != "off":
            checks = [
                self._second(claim.text, check, self._judge, ends)
                for claim, check in zip(claims.claims, checks, strict=True)
            ]
        composed = compose(claims, checks, prepared.evidence, mode)
        return composed._replace(dropped=(*composed.dropped, *left_out)), checks

    @staticmethod
    def _second(sentence: str, check: Check, judge: Judge, ends: float) -> Check:
        """`check` after the second opinion, which is asked only where words may have been read too kindly."""
        doubtful = check.verdict == "supported" and check.score < 1.0
        if not doubtful or not judge.objects(sentence, [quote.text for quote in check.quotes], ends):
            return check
        return replace(check, verdict="partly", why=WHY, repaired=False)


def _given_up(composed: Composed) -> tuple[Dropped, ...]:
    """Every sentence of a draft that gave way to another, with why."""
    return tuple(Dropped(text=each.text, why=each.why or "no passage carries it") for each in composed.sentences)
