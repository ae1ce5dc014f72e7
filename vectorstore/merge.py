"""When two records are one paper, and what it then is (pure)."""

import hashlib
import re
import unicodedata
from dataclasses import replace

from vectorstore.paper import Paper

_DOI = re.compile(r"(?:^|doi\.org/|doi:\s*|\s)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_ARXIV = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?!\d)", re.IGNORECASE)
_MARKUP = re.compile(r"\\(?:textit|textbf|emph|text|textrm|textsc|mathrm|mathcal|mathbb|mathbf)\b|</?\w+[^<>]{0,60}>")


def doi(text: str | None) -> str | None:
    """The DOI in `text`, in any of its spellings, lower case; None without one."""
    match = _DOI.search(text or "")
    return match.group(1).rstrip(".,;)").lower() if match else None


def arxiv_id(text: str | None) -> str | None:
    """The arXiv id in `text` (a URL, `arXiv:…v2`, bare), without its version; None without one."""
    match = _ARXIV.search(text or "")
    return match.group(1).lower() if match else None


def identify(paper: Paper) -> Paper:
    """`paper` with an id where its record had none: its DOI, its arXiv id, or a hash of its abstract."""
    if paper.paper_id:
        return paper
    if paper.doi:
        return replace(paper, paper_id=f"doi:{paper.doi}")
    if paper.arxiv_id:
        return replace(paper, paper_id=f"arxiv:{paper.arxiv_id}")
    return replace(paper, paper_id=f"sha:{_hash(paper.abstract)[:12]}")


def keys(paper: Paper) -> tuple[str, ...]:
    """What identifies the paper whatever file it comes from: two papers that share one of these are one."""
    named = ((f"doi:{paper.doi}" if paper.doi else ""), (f"arxiv:{paper.arxiv_id}" if paper.arxiv_id else ""))
    return (*filter(None, named), f"abstract:{_hash(paper.abstract)}")


def merge(old: Paper, new: Paper) -> Paper:
    """One paper of two records: what the newer says holds, what it does not say stays, the id stays."""
    return Paper(
        paper_id=old.paper_id,
        abstract=new.abstract or old.abstract,
        title=new.title or old.title,
        authors=new.authors or old.authors,
        year=old.year if new.year is None else new.year,
        venue=new.venue or old.venue,
        url=new.url or old.url,
        doi=new.doi or old.doi,
        arxiv_id=new.arxiv_id or old.arxiv_id,
        retracted=new.retracted or old.retracted,
    )


def _hash(abstract: str) -> str:
    """Equal for abstracts that differ in mark-up, case, white space and punctuation only."""
    folded = unicodedata.normalize("NFKC", _MARKUP.sub("", abstract)).casefold()
    letters = re.sub(r"[^\w]+|_", "", folded)
    return hashlib.sha256((letters or abstract).encode("utf-8", "replace")).hexdigest()
