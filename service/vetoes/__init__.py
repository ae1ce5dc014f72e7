"""What a similarity can't see: numbers, units, names, negation, direction and strength that disagree (pure).

`disagreement(sentence, *quotes)` is None only if every number, unit and name of the sentence stands in the quotes, and
nothing the sentence affirms is denied there, or the other way round.

lexicon      words that turn a sentence round, and words that do not
facts        numbers, units, names
polarity     negation, direction, comparisons
alignment    what is exchanged between equal words
containment  how much of the words is there at all
"""

from collections.abc import Callable, Iterator, Sequence

from service.vetoes.alignment import exchanged, left_over
from service.vetoes.containment import containment, unsaid
from service.vetoes.facts import complexity, names, numbers
from service.vetoes.polarity import direction, negation, stitched, swapped
from service.vetoes.veto import Veto

__all__ = ["Veto", "containment", "disagreement", "turned"]

_OF_THE_SAME = 0.6
_MISSING: tuple[Callable[[str, str], Veto | None], ...] = (numbers, complexity, names)
_TURNED: tuple[Callable[[str, str], Veto | None], ...] = (negation, direction, swapped)


def disagreement(sentence: str, *quotes: str) -> Veto | None:
    """The first thing on which the sentence and the quotes, taken together, disagree, or None.

    What is missing in one quote may stand in another. What one that speaks of the same says the other way round, no
    further quote can make good.
    """
    together = "\n".join(quotes)
    for check in _MISSING:
        if veto := check(sentence, together):
            return veto
    for said, text in _pairs(sentence, quotes):
        if veto := turned(said, text):
            return veto
    if len(quotes) > 1 and (veto := stitched(sentence, together)):
        return veto
    return exchanged(sentence, quotes) or unsaid(sentence, together)


def turned(sentence: str, quote: str) -> Veto | None:
    """How the quote denies, or says the other way round, what the sentence says; None if it does not."""
    return next((veto for check in _TURNED if (veto := check(sentence, quote))), None)


def _pairs(sentence: str, quotes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The sentence with all quotes; then with each that speaks of the same, less what another has word for word."""
    yield sentence, "\n".join(quotes)
    if len(quotes) > 1:
        for quote in quotes:
            if containment(sentence, quote) >= _OF_THE_SAME:
                yield left_over(sentence, [other for other in quotes if other != quote]), quote
