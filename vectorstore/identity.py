"""Which records are which papers: one batch of records against what the catalogue holds.

A record is the paper that shares its DOI, arXiv id or abstract, or else its own id. A record that was stored before,
letter for letter, changes nothing, whatever happened to its paper since within the same input: so a file with two
versions of one paper can be added twice.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from vectorstore import catalogue
from vectorstore.merge import identify, keys, merge
from vectorstore.paper import Paper

_RECORD = "record:"
_ABSTRACT = "abstract:"


# `(which record, "added" | "updated" | "unchanged")`
Outcome = tuple[str, str]


@dataclass(eq=False, slots=True)
class Entry:
    """A paper as this batch leaves it. `row` is None for a new one; `before` is what the catalogue holds.

    `prints` are the fingerprints of the records that *this* input gave it.
    """

    paper: Paper
    row: int | None = None
    before: Paper | None = None
    keys: set[str] = field(default_factory=set)
    prints: set[str] = field(default_factory=set)
    stored_keys: frozenset[str] = frozenset()
    absorbed: list[int] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether the catalogue must be written at all."""
        return self.paper != self.before or bool(self.absorbed)

    @property
    def verdicts(self) -> list[Outcome]:
        """What became of each record; versions that end where they began changed nothing."""
        if self.row is None or self.changed:
            return self.outcomes
        return [(record, "unchanged") for record, _ in self.outcomes]


# The record fingerprints that this input has given each paper so far, by row number.
Prints = dict[int, set[str]]


class Resolver:
    """Takes the records of one batch in order and knows, after the last, what became of every paper."""

    def __init__(self, connection: sqlite3.Connection, collection: int, prints: Prints) -> None:
        self._connection = connection
        self._collection = collection
        self._prints = prints
        self._by_key: dict[str, Entry] = {}

    def resolve(self, records: Sequence[tuple[str, Paper]]) -> list[Entry]:
        """The papers that the `(which record, paper)` belong to, in order; their outcomes sum to the records."""
        found = [(record, identify(paper)) for record, paper in records]
        self._load({key for _, paper in found for key in (_id_key(paper), *keys(paper), _fingerprint(paper))})
        entries: dict[int, Entry] = {}
        for record, paper in found:
            entry = self._place(record, paper)
            entries.setdefault(id(entry), entry)
        return [entry for entry in entries.values() if entry.outcomes]

    def _load(self, wanted: Iterable[str]) -> None:
        rows = set(catalogue.rows_of_keys(self._connection, self._collection, wanted).values())
        known = catalogue.keys_of_rows(self._connection, rows)
        for row, paper in sorted(catalogue.papers_by_row(self._connection, rows).items()):
            entry = Entry(paper, row, paper, known.get(row, set()), set(self._prints.get(row, ())))
            entry.stored_keys = frozenset(entry.keys)
            self._by_key.update(dict.fromkeys(entry.keys, entry))

    def _place(self, record: str, paper: Paper) -> Entry:
        fingerprint = _fingerprint(paper)
        entry = self._by_key.get(fingerprint)
        if entry is None:
            entry, outcome = self._merge(paper)
            entry.outcomes.append((record, outcome))
        else:
            entry.outcomes.append((record, "unchanged"))
        entry.prints.add(fingerprint)
        entry.keys.add(fingerprint)
        self._by_key.update(dict.fromkeys(entry.keys, entry))
        return entry

    def _merge(self, paper: Paper) -> tuple[Entry, str]:
        matches = self._matches(paper)
        if not matches:
            if _id_key(paper) in self._by_key:
                # Two papers under one id within one input: an export that numbers carelessly, not a new version.
                paper = self._renamed(paper)
            return Entry(paper, keys={_id_key(paper), *keys(paper)}), "added"
        first, *others = matches
        merged = first.paper
        for other in others:
            merged = merge(merged, other.paper)
            self._absorb(first, other)
        merged = merge(merged, paper)
        changed = merged != first.paper or bool(others)
        if changed:
            self._change(first, merged)
        lasting = (key for key in (_id_key(paper), *keys(paper)) if not key.startswith(_ABSTRACT))
        # An id that another paper answers to stays with that one.
        first.keys.update(key for key in lasting if self._by_key.get(key, first) is first)
        return first, "updated" if changed else "unchanged"

    def _renamed(self, paper: Paper) -> Paper:
        """The paper under the id of its contents, or if another goes by that one, under the next that is free."""
        own = identify(replace(paper, paper_id=""))
        for number in count(2):
            taken = catalogue.rows_of_keys(self._connection, self._collection, [_id_key(own)])
            if not taken and _id_key(own) not in self._by_key:
                break
            own = replace(own, paper_id=f"{identify(replace(paper, paper_id='')).paper_id}~{number}")
        return own

    def _change(self, entry: Entry, merged: Paper) -> None:
        stale = {key for key in entry.keys if key.startswith(_RECORD)} - entry.prints
        if merged.abstract != entry.paper.abstract:
            stale |= {key for key in keys(entry.paper) if key.startswith(_ABSTRACT)}
        for key in stale:
            self._by_key.pop(key, None)
        entry.paper = merged
        entry.keys = (entry.keys - stale) | set(keys(merged))

    def _absorb(self, first: Entry, other: Entry) -> None:
        first.absorbed += other.absorbed if other.row is None else [*other.absorbed, other.row]
        first.keys |= other.keys
        first.prints |= other.prints
        first.outcomes += [(record, "updated" if outcome == "added" else outcome) for record, outcome in other.outcomes]
        other.outcomes = []

    def _matches(self, paper: Paper) -> list[Entry]:
        """The papers this record belongs to, those of the catalogue first, the oldest first."""
        strong = [self._by_key[key] for key in keys(paper) if key in self._by_key]
        matches = {id(entry): entry for entry in strong}
        own = self._by_key.get(_id_key(paper))
        if own is not None and not (_apart(own.paper, paper) and (matches or own.prints)):
            matches.setdefault(id(own), own)
        return sorted(matches.values(), key=lambda entry: (entry.row is None, entry.row or 0))


def _id_key(paper: Paper) -> str:
    return f"id:{paper.paper_id}"


def _apart(one: Paper, other: Paper) -> bool:
    """Whether two papers of one id are clearly not one: other titles, or none, and other abstracts."""
    titles = [" ".join((paper.title or "").casefold().split()) for paper in (one, other)]
    if all(titles):
        return titles[0] != titles[1] and one.abstract != other.abstract
    words = [set(paper.abstract.casefold().split()) for paper in (one, other)]
    return len(words[0] & words[1]) * 2 < min(map(len, words))


def _fingerprint(paper: Paper) -> str:
    text = repr((paper.paper_id, paper.abstract, paper.title, paper.authors, paper.year, paper.venue, paper.url))
    more = repr((paper.doi, paper.arxiv_id, paper.retracted))
    return _RECORD + hashlib.blake2b(f"{text}{more}".encode(), digest_size=16).hexdigest()
