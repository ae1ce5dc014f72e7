"""A retrieval set in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/SPLIT.tsv` or `qrels_SPLIT.tsv`.

Each file may end in `.gz`, and queries may have their split in their name as well.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from service.evaluation.corpus import distinct
from service.evaluation.files import BadLabels, lines, rows
from vectorstore.clean import clean
from vectorstore.paper import Paper

_QRELS = re.compile(r"(?:qrels[_.-]?)?(.*?)\.tsv(?:\.gz)?")
# Whoever judged may have spelled the only split in any of these ways.
WHOLE = "all"


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Papers, and queries with the grades of papers. `twins`: papers left out because another has their abstract."""

    name: str
    papers: tuple[Paper, ...]
    queries: dict[str, str]
    judged: dict[str, dict[str, int]]
    twins: int


class _Text(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(alias="_id", min_length=1)
    title: str | None = None
    text: str = ""


def load(folder: Path, split: str | None = None) -> RetrievalSet:
    """The set in `folder`. Raises BadLabels, naming the splits there are where `split` is needed or unknown."""
    splits = dict(_splits(folder))
    if not splits:
        raise BadLabels(f"{folder.name} has no judgements: qrels/SPLIT.tsv or qrels.tsv, gzip or not, is missing.")
    if split is None and len(splits) > 1:
        raise BadLabels(f"{folder.name} has several splits; choose one with --split: {', '.join(sorted(splits))}.")
    chosen = split or next(iter(splits))
    if chosen not in splits:
        raise BadLabels(f"{folder.name} has no split {chosen!r}; there is {', '.join(sorted(splits))}.")
    papers, same = distinct(_papers(_file(folder, "corpus")))
    judged = _judged(splits[chosen], same)
    asked = {row.id: row.text for row in rows(_file(folder, f"queries_{chosen}", "queries"), _Text)}
    queries = {query: asked[query] for query, grades in judged.items() if query in asked and max(grades.values()) > 0}
    if not queries:
        raise BadLabels(f"No query of {folder.name} has a relevant paper: do the ids of queries and qrels agree?")
    return RetrievalSet(folder.name, tuple(papers), queries, {query: judged[query] for query in queries}, len(same))


def _splits(folder: Path) -> Iterator[tuple[str, Path]]:
    inside = folder / "qrels"
    found = sorted(inside.iterdir()) if inside.is_dir() else sorted(folder.glob("qrels*"))
    for path in found:
        if match := _QRELS.fullmatch(path.name):
            yield match.group(1) or WHOLE, path


def _file(folder: Path, *stems: str) -> Path:
    for stem in stems:
        for path in (folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz"):
            if path.is_file():
                return path
    raise BadLabels(f"{folder.name} has no {stems[-1]}.jsonl or {stems[-1]}.jsonl.gz.")


def _papers(path: Path) -> Iterator[Paper]:
    """A record without a text is its title: old collections have titles only, and judge by them."""
    for row in rows(path, _Text):
        title, abstract = clean(row.title or ""), clean(row.text)
        if abstract or title:
            yield Paper(row.id, abstract or title, (title or None) if abstract else None)


def _judged(path: Path, same: dict[str, str]) -> dict[str, dict[str, int]]:
    """Query id -> paper id -> grade, from BEIR's three columns or TREC's four."""
    judged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, line in lines(path):
        query, *middle, grade = line.split()
        try:
            value = int(float(grade))
        except ValueError:
            if number == 1:
                continue
            raise BadLabels(f"{path.name}, line {number}: {grade!r} is not a grade.") from None
        if not middle:
            raise BadLabels(f"{path.name}, line {number}: query, paper and grade are needed.")
        paper = same.get(middle[-1], middle[-1])
        judged[query][paper] = max(value, judged[query].get(paper, value))
    return dict(judged)
