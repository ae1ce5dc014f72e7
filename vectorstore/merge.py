"""When two records are one paper, and what it then is (pure)."""

import hashlib
import re
import unicodedata
from dataclasses import replace
from urllib.parse import unquote

from vectorstore.paper import Paper

_DOI = re.compile(r"(?:^|doi\.org/|doi:\s*|[\s(\[])(10\.\d{4,9}/[^\s\"]+)", re.IGNORECASE)
_ARCHIVES = (
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas cond-mat cs dg-ga"
    " funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin nucl-ex nucl-th patt-sol physics plasm-ph"
    " q-alg q-bio q-fin quant-ph solv-int stat supr-con"
).replace(" ", "|")
_ARXIV = re.compile(
    r"(?:(?<![\d.\w])|(?<=arxiv\.))"
    rf"(\d{{2}}(?:0[1-9]|1[0-2])\.\d{{4,5}}|(?:{_ARCHIVES})(?:\.[a-z]{{2}})?/\d{{7}})(?:v\d+)?(?![\d\w])",
    re.IGNORECASE,
)
_ARXIV_DOI = "10.48550/arxiv."
_PREPRINT_VENUE = re.compile(r"arxiv|preprint|\bcorr\b|\w+rxiv\b|\bssrn\b|openreview|research square", re.IGNORECASE)
_PREPRINT_DOI = re.compile(r"10\.(?:48550/arxiv\.|1101/(?:19|20)|26434/|2139/ssrn|31234/|21203/rs|20944/preprints)")
_MACROS = re.compile(r"\\(?:textit|textbf|emph|text|textrm|textsc|texttt|mathrm|mathcal|mathbb|mathbf|it|bf|em)\b")
_TAGS = re.compile(r"</?[a-zA-Z][\w:.-]*(?:\s[^<>]{0,80})?/?>")
_NO_LETTER = re.compile(r"[\W_]+")


def doi(text: str | None) -> str | None:
    """The DOI in `text`, in any of its spellings, lower case; None without one."""
    match = _DOI.search(unquote(text or "").strip())
    if match is None:
        return None
    found = match.group(1).rstrip(".,;").lower()
    return found.rstrip(")].,;") if found.count("(") < found.count(")") else found


def arxiv_id(text: str | None) -> str | None:
    """The arXiv id in `text` (a URL, `arXiv:…v2`, bare), without version and subject class; None without one."""
    match = _ARXIV.search(text or "")
    if match is None:
        return None
    archive, slash, number = match.group(1).lower().rpartition("/")
    return archive.partition(".")[0] + slash + number


def identify(paper: Paper) -> Paper:
    """`paper` with an id where its record had none: its DOI, its arXiv id, or a hash of its abstract."""
    return (
        paper if paper.paper_id else replace(paper, paper_id=(*_named(paper), f"sha:{_hash(paper.abstract)[:12]}")[0])
    )


def keys(paper: Paper) -> tuple[str, ...]:
    """What identifies the paper whatever file it comes from: two papers that share one of these are one."""
    return (*_named(paper), f"abstract:{_hash(paper.abstract)}")


def merge(old: Paper, new: Paper) -> Paper:
    """One paper of two records: what the newer says holds, what it does not say stays, the id stays.

    Where and when it appeared is told by its publication, whichever of the two records is newer.
    """
    first, second = (old, new) if is_published(old) and _says_preprint(new) else (new, old)
    return Paper(
        paper_id=old.paper_id,
        abstract=new.abstract or old.abstract,
        title=new.title or old.title,
        authors=new.authors or old.authors,
        year=second.year if first.year is None else first.year,
        venue=first.venue or second.venue,
        url=first.url or second.url,
        doi=first.doi or second.doi,
        arxiv_id=new.arxiv_id or old.arxiv_id,
        retracted=new.retracted or old.retracted,
    )


def is_published(paper: Paper) -> bool:
    """Whether the record names a venue or a DOI that is not a preprint server's."""
    return bool(paper.venue and not _PREPRINT_VENUE.search(paper.venue)) or bool(
        paper.doi and not _PREPRINT_DOI.match(doi(paper.doi) or "")
    )


def _says_preprint(paper: Paper) -> bool:
    return not is_published(paper) and bool(paper.venue or paper.doi or paper.arxiv_id)


def _named(paper: Paper) -> tuple[str, ...]:
    """The keys of the paper's own identifiers, however they are spelled."""
    name = doi(paper.doi) or (paper.doi or "").strip().lower()
    preprint = arxiv_id(paper.arxiv_id) or (paper.arxiv_id or "").strip().lower() or _arxiv_of_doi(paper)
    return (*([f"doi:{name}"] if name else []), *([f"arxiv:{preprint}"] if preprint else []))


def _arxiv_of_doi(paper: Paper) -> str | None:
    name = doi(paper.doi) or ""
    return arxiv_id(name.removeprefix(_ARXIV_DOI)) if name.startswith(_ARXIV_DOI) else None


def _hash(abstract: str) -> str:
    """Equal for abstracts that differ in mark-up, case, white space and punctuation only."""
    plain = _TAGS.sub("", _MACROS.sub("", abstract)) if "<" in abstract or "\\" in abstract else abstract
    folded = unicodedata.normalize("NFKC", plain).casefold()
    letters = _NO_LETTER.sub("", folded)
    return hashlib.sha256((letters or abstract).encode("utf-8", "replace")).hexdigest()
