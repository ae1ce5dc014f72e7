"""Paper -> Passages that tile its abstract (pure, given the embedder's token counts).

One passage holds what the embedding model reads at once, title included. A longer abstract is cut between sentences
into passages of about equal length: a full one and a stub of three words make two poor vectors.
"""

from collections.abc import Callable

from vectorstore.paper import Embedder, Paper, Passage
from vectorstore.sentences import sentences

SPLITTER_VERSION = "sentences-1"
_TITLE_SHARE = 4

Count = Callable[[str], int]


def embedded_text(paper: Paper, passage: Passage, embedder: Embedder) -> str:
    """What is embedded for a passage: "title. passage". A title that would eat a quarter of the room is cut short."""
    title = _short_title(paper, embedder)
    return f"{title}. {passage.text}" if title else passage.text


def split(paper: Paper, embedder: Embedder) -> list[Passage]:
    """Passages in order; joined they are the abstract. Each fits in what the embedder reads, its title in front."""
    abstract = paper.abstract
    head = f"{title}. " if (title := _short_title(paper, embedder)) else ""
    if not abstract or embedder.count(head + abstract) <= embedder.max_tokens:
        return [_passage(paper, 0, len(abstract))] if abstract else []
    room = embedder.max_tokens - embedder.count(head)

    def count(text: str) -> int:
        return embedder.count(text) - embedder.count("")

    pieces = [piece for start, end in _tiles(abstract) for piece in _fitting(abstract, start, end, room, count)]
    sizes = [count(abstract[start:end]) for start, end in pieces]
    spans = _balanced(pieces, sizes, room)
    return [_passage(paper, start, end) for span in spans for start, end in _checked(abstract, span, head, embedder)]


def _short_title(paper: Paper, embedder: Embedder) -> str:
    words = " ".join((paper.title or "").split()).rstrip(".").split(" ")
    while words != [""] and embedder.count(" ".join(words)) > embedder.max_tokens // _TITLE_SHARE:
        words = words[: len(words) * 3 // 4] if len(words) > 1 else [words[0][: len(words[0]) // 2]]
    return " ".join(words)


def _passage(paper: Paper, start: int, end: int) -> Passage:
    return Passage(paper.paper_id, start, end, paper.abstract[start:end])


def _tiles(text: str) -> list[tuple[int, int]]:
    """Sentences stretched to each other, so that every character belongs to one."""
    starts = [0, *(start for start, _ in sentences(text)[1:])]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _fitting(text: str, start: int, end: int, room: int, count: Count) -> list[tuple[int, int]]:
    """The span itself, or the halves of its halves that fit: between words if it has any."""
    if end - start < 2 or count(text[start:end]) <= room:
        return [(start, end)]
    middle = (start + end) // 2
    space = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    cut = space + 1 if space > start + (end - start) // 4 else middle
    return _fitting(text, start, cut, room, count) + _fitting(text, cut, end, room, count)


def _balanced(pieces: list[tuple[int, int]], sizes: list[int], room: int) -> list[tuple[int, int]]:
    """Neighbouring pieces joined into as few passages as fit, about equally long."""
    wanted = max(2, -(-sum(sizes) // room))
    goal = sum(sizes) / wanted
    spans: list[tuple[int, int]] = []
    start, held = pieces[0][0], 0
    for (left, _), size in zip(pieces, sizes, strict=True):
        if held and (held + size > room or held + size / 2 > goal):
            spans.append((start, left))
            start, held = left, 0
        held += size
    return [*spans, (start, pieces[-1][1])]


def _checked(text: str, span: tuple[int, int], head: str, embedder: Embedder) -> list[tuple[int, int]]:
    """The span, cut once more where its pieces counted alone came to less than the whole does."""
    start, end = span
    if end - start < 2 or embedder.count(head + text[start:end]) <= embedder.max_tokens:
        return [span]
    middle = text.rfind(" ", start + 1, (start + end) // 2) + 1 or (start + end) // 2
    return _checked(text, (start, middle), head, embedder) + _checked(text, (middle, end), head, embedder)
