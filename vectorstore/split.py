"""Paper -> Passages that tile its abstract (pure, given the embedder's token counts).

One passage holds what the embedding model reads at once, title included. A longer abstract is cut between sentences
into passages of about equal length: a full one and a stub of three words make two poor vectors.
"""

import unicodedata
from collections.abc import Callable

from vectorstore.paper import Embedder, Paper, Passage
from vectorstore.sentences import sentences

SPLITTER_VERSION = "sentences-2"
_TITLE_SHARE = 4
# Zero-width joiner and variation selectors: what stands before them is drawn as one sign with them.
_JOINERS = "\u200d\ufe0e\ufe0f"

Span = tuple[int, int]
Count = Callable[[str], int]


def embedded_text(paper: Paper, passage: Passage, embedder: Embedder) -> str:
    """What is embedded for a passage: "title. passage". A title that would eat a quarter of the room is cut short."""
    return _head(paper, embedder) + passage.text


def split(paper: Paper, embedder: Embedder) -> list[Passage]:
    """Passages in order; joined they are the abstract. Each fits in what the embedder reads, its title in front."""
    abstract = paper.abstract
    if not abstract:
        return []
    head = _head(paper, embedder)
    whole = embedder.count(head + abstract)
    if whole <= embedder.max_tokens:
        return [_passage(paper, 0, len(abstract))]
    bare, before = embedder.count(""), embedder.count(head)
    room = max(1, embedder.max_tokens - before)

    def count(text: str) -> int:
        return embedder.count(text) - bare

    pieces = [piece for start, end in _tiles(abstract) for piece in _fitting(abstract, (start, end), room, count)]
    spans = _balanced([span for span, _ in pieces], [size for _, size in pieces], room)
    between_words = all(start == 0 or abstract[start - 1].isspace() for (start, _), _ in pieces)
    if not between_words or sum(size for _, size in pieces) + before != whole:
        # Tokens reach over the cuts, so the parts do not tell the size of what they make together.
        spans = [each for span in spans for each in _checked(abstract, span, head, embedder)]
    return [_passage(paper, start, end) for start, end in spans]


def _head(paper: Paper, embedder: Embedder) -> str:
    """The title as it stands before each passage, or nothing."""
    words = (paper.title or "").rstrip(" .").split()
    while words and embedder.count(" ".join(words)) > embedder.max_tokens // _TITLE_SHARE:
        words = words[: len(words) * 3 // 4] if len(words) > 1 else list(filter(None, [words[0][: len(words[0]) // 2]]))
    title = " ".join(words)
    if not title:
        return ""
    return f"{title} " if title[-1] in "?!" else f"{title}. "


def _passage(paper: Paper, start: int, end: int) -> Passage:
    return Passage(paper.paper_id, start, end, paper.abstract[start:end])


def _tiles(text: str) -> list[Span]:
    """Sentences stretched to each other, so that every character belongs to one."""
    starts = [0, *(start for start, _ in sentences(text)[1:])]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _fitting(text: str, span: Span, room: int, count: Count) -> list[tuple[Span, int]]:
    """The span with its size, or the halves of its halves that fit."""
    start, end = span
    size = count(text[start:end])
    if end - start < 2 or size <= room:
        return [(span, size)]
    cut = _middle(text, start, end)
    return _fitting(text, (start, cut), room, count) + _fitting(text, (cut, end), room, count)


def _middle(text: str, start: int, end: int) -> int:
    """Where to cut a span in two: between words if there are any, and never inside a letter and its accents."""
    middle = (start + end) // 2
    space = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    if space > start + (end - start) // 4:
        return space + 1
    cut = middle
    while cut > start + 1 and (text[cut] in _JOINERS or text[cut - 1] in _JOINERS or unicodedata.combining(text[cut])):
        cut -= 1
    return cut if cut > start + 1 else middle


def _balanced(pieces: list[Span], sizes: list[int], room: int) -> list[Span]:
    """Neighbouring pieces joined into as few passages as fit, the longest of them as short as can be."""
    low, high = max(sizes), max(room, *sizes)
    fewest = len(_filled(sizes, high))
    while low < high:
        middle = (low + high) // 2
        if len(_filled(sizes, middle)) <= fewest:
            high = middle
        else:
            low = middle + 1
    starts = [pieces[number][0] for number in _filled(sizes, high)]
    return list(zip(starts, [*starts[1:], pieces[-1][1]], strict=True))


def _filled(sizes: list[int], room: int) -> list[int]:
    """The numbers of the pieces that begin a passage, each passage filled as far as it goes."""
    begins, held = [0], 0
    for number, size in enumerate(sizes):
        if held + size > room and number > begins[-1]:
            begins.append(number)
            held = 0
        held += size
    return begins


def _checked(text: str, span: Span, head: str, embedder: Embedder) -> list[Span]:
    """The span, cut once more where its pieces counted alone came to less than the whole does."""
    start, end = span
    if end - start < 2 or embedder.count(head + text[start:end]) <= embedder.max_tokens:
        return [span]
    cut = _middle(text, start, end)
    return _checked(text, (start, cut), head, embedder) + _checked(text, (cut, end), head, embedder)
