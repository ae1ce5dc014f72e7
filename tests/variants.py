"""Sentences of abstracts, said again: truly in other words, or falsely in nearly the same. Equal seeds, equal cases.

Each maker takes an abstract's sentences and the place of one, and gives what a draft might say of it, or None where
the sentence offers nothing to change.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vectorstore.paper import Paper
from vectorstore.sentences import sentences


class Case(NamedTuple):
    """What a draft says, about the first of `papers`; the others were sent along."""

    kind: str
    sentence: str
    original: str
    papers: tuple[Paper, ...]


class Scene(NamedTuple):
    """A sentence in its abstract, and a sentence of another paper."""

    said: str
    abstract: Sequence[str]
    foreign: str
    foreign_abstract: str
    random: random.Random


Maker = Callable[[Scene], str | None]


def cases(papers: Sequence[Paper], makers: dict[str, Maker], seed: int, count: int, sent: int = 4) -> Iterator[Case]:
    """At most `count` cases of each kind, each from a paper of its own choice among `sent` that were sent."""
    for kind, maker in makers.items():
        draw = random.Random(f"{seed} {kind}")
        made = 0
        for paper in draw.sample(list(papers), len(papers)):
            if made == count:
                break
            others = draw.sample(list(papers), sent)
            others = [other for other in others if other.paper_id != paper.paper_id][: sent - 1]
            case = _case(kind, maker, paper, others, draw)
            if case:
                made += 1
                yield case


def _case(kind: str, maker: Maker, paper: Paper, others: Sequence[Paper], draw: random.Random) -> Case | None:
    abstract = _sentences(paper)
    foreign = [line for line in _sentences(others[0]) if _usable(line)]
    for said in draw.sample(abstract, len(abstract)):
        if not _usable(said) or not foreign:
            continue
        sentence = maker(Scene(said, abstract, draw.choice(foreign), others[0].abstract, draw))
        if sentence and sentence != said:
            return Case(kind, sentence, said, (paper, *others))
        if sentence and kind == "verbatim":
            return Case(kind, sentence, said, (paper, *others))
    return None


def _sentences(paper: Paper) -> list[str]:
    return [paper.abstract[start:end] for start, end in sentences(paper.abstract)]


def _usable(said: str) -> bool:
    return 8 <= len(said.split()) <= 45 and "http" not in said and said.rstrip().endswith(".")


def sub_words(pattern: str, table: dict[str, str], text: str, draw: random.Random, most: int = 1) -> str | None:
    """`text` with up to `most` words of `table` replaced, chosen at random; None where it has none."""
    found = list(re.finditer(pattern, text, re.IGNORECASE))
    found = [match for match in found if match.group().lower() in table]
    if not found:
        return None
    for match in sorted(draw.sample(found, min(most, len(found))), key=lambda match: -match.start()):
        new = table[match.group().lower()]
        new = new[:1].upper() + new[1:] if match.group()[0].isupper() else new
        text = text[: match.start()] + new + text[match.end() :]
    return text


def table(lines: str) -> dict[str, str]:
    return dict(part.split(":") for line in lines.strip().splitlines() for part in line.strip().split(", "))


def lowered(said: str) -> str:
    """The sentence as it goes on after "that": its first letter small where it opens with an ordinary word."""
    first = said.split(maxsplit=1)[0]
    return said if first == "I" or not re.fullmatch(r"[A-Z][a-z’']*", first) else said[0].lower() + said[1:]


# --- true ---------------------------------------------------------------------------------------------------------


def _verbatim(scene: Scene) -> str:
    return scene.said


def _trimmed(scene: Scene) -> str | None:
    """Without an opening, or without what a last comma adds."""
    opened = re.sub(
        r"^(?:However|Moreover|Furthermore|In addition|Additionally|Finally|Specifically|In this (?:paper|work)"
        r"|To this end|Notably|Thus|Therefore|Hence|As a result), ", "", scene.said,
    )  # fmt: skip
    if opened != scene.said:
        return opened[0].upper() + opened[1:]
    match = re.fullmatch(r"(.{50,}?), (?:which|where|thereby|thus|making|leading|allowing|enabling)\b.*\.", scene.said)
    return match.group(1) + "." if match and match.group(1).count("(") == match.group(1).count(")") else None


def _reordered(scene: Scene) -> str | None:
    """The opening clause moved to the end."""
    match = re.fullmatch(
        r"((?:In|On|With|By|For|To|When|Under|Through|Using|Based on|Unlike|At|From|Given) [^,]{8,80}),"
        r" ([^,:;]{30,})\.",
        scene.said,
    )
    if match is None:
        return None
    front, rest = match.groups()
    return f"{rest[0].upper() if rest.split()[0].islower() else rest[0]}{rest[1:]} {front[0].lower()}{front[1:]}."


_SPELLED = "two three four five six seven eight nine ten eleven twelve".split()


def _number_spelled(scene: Scene) -> str | None:
    said = scene.said
    changes = [
        (r"(\d),(\d{3})\b", r"\1\2"),
        (r"\\?%(?![\w$])", " percent"),
        (r"(?<=\d)\$?\\times\$?", "x"),
        (r"(?<=\d)x\b", " times"),
        (r"(?<![\w.-])(\d+)K\b", r"\1,000"),
        (r"(?<![\w.-])(\d+)M\b", r"\1 million"),
    ]
    changes += [(rf"\b{word}\b(?![- ])", str(value)) for value, word in enumerate(_SPELLED, 2)]
    changes += [(rf"(?<![\w.,-]){value}(?= [a-z]{{4,}})", word) for value, word in enumerate(_SPELLED, 2)]
    for pattern, new in changes:
        changed = re.sub(pattern, new, said)
        if changed != said:
            return changed
    return None


def _other_spelling(scene: Scene) -> str | None:
    pairs = [("ization", "isation"), ("izing", "ising"), ("ized", "ised"), ("ize", "ise"), ("izes", "ises")]
    pairs += [("behavior", "behaviour"), ("modeling", "modelling"), ("labeled", "labelled"), ("color", "colour")]
    changed = scene.said
    for american, british in pairs:
        changed = re.sub(rf"(?<=[a-z]{{3}}){american}\b|\b{american}", british, changed)
    return changed


_PAST = table(
    "propose:proposed, introduce:introduced, present:presented, develop:developed, study:studied, analyze:analyzed"
    ", investigate:investigated, consider:considered, provide:provided, design:designed, derive:derived"
    ", establish:established, address:addressed, explore:explored, describe:described, offer:offered"
)


def _passive(scene: Scene) -> str | None:
    match = re.fullmatch(
        rf"(?:In this (?:paper|work), )?[Ww]e (?:also )?({'|'.join(_PAST)})"
        r" ((?:an?|the|several|two) [^,;:]{20,160})\.",
        scene.said,
    )
    if match is None:
        return None
    verb, thing = match.groups()
    head = re.match(r"(.*?) (that|which|for|to|of|called|based|with|in|on|using|by) .*", thing)
    cut = head.end(1) if head else len(thing)
    if len(thing[:cut].split()) < 2:
        return None
    return f"{thing[0].upper()}{thing[1:cut]} is {_PAST[verb]}{thing[cut:]}."


def _third_person(scene: Scene) -> str | None:
    who = scene.random.choice(("The authors", "The paper", "This work"))
    pattern = r"^(?:In this (?:paper|work|study), |Here, |To this end, )?[Ww]e (?!are|were|have)"
    if not re.search(pattern, scene.said) or re.search(r"\b(?:our|us|ours)\b.*\bwe\b", scene.said):
        return None
    rest = re.sub(pattern, "", scene.said)
    if who != "The authors":
        verb, _, behind = rest.partition(" ")
        if not verb.islower() or verb.endswith("ly") or verb in {"can", "then", "also", "first"}:
            return None
        ending = "ies" if re.search("[^aeo]y$", verb) else "es" if verb.endswith(("s", "sh", "ch", "x")) else "s"
        rest = f"{verb[:-1] if ending == 'ies' else verb}{ending} {behind}"
    theirs = re.sub(r"\bour\b", "their", rest)
    return f"{who} {theirs}"


def _framed(scene: Scene) -> str:
    frame = scene.random.choice(
        ("According to the abstract, {}", "The authors report that {}", "The paper states that {}", "Here, {}")
    )
    return frame.format(lowered(scene.said))


def _joined(scene: Scene) -> str | None:
    others = [line for line in scene.abstract if line != scene.said and _usable(line)]
    if not others or len(scene.said.split()) > 28:
        return None
    other = scene.random.choice(others)
    return f"{scene.said.rstrip('.')}, and {lowered(other)}" if len(other.split()) <= 28 else None


_SYNONYMS = table("""
    show:demonstrate, shows:demonstrates, demonstrate:show, propose:introduce, introduce:present, use:employ
    uses:employs, method:approach, methods:approaches, approach:method, approaches:methods, achieves:attains
    achieve:attain, improves:enhances, improve:enhance, improving:enhancing, enhance:improve, existing:current
    novel:new, obtain:get, significantly:substantially, substantially:significantly, important:crucial
    crucial:important, often:frequently, requires:needs, require:need, remains:stays, however:but, large:big
    issue:problem, issues:problems, task:problem, challenging:hard, allows:lets, enables:allows, enable:allow
    effectively:well, generate:produce, various:different
""")


def _synonym(scene: Scene) -> str | None:
    return sub_words(r"[a-z]+", _SYNONYMS, scene.said, scene.random, most=2)


TRUE: dict[str, Maker] = {
    "verbatim": _verbatim,
    "trimmed": _trimmed,
    "reordered": _reordered,
    "number spelled": _number_spelled,
    "other spelling": _other_spelling,
    "passive": _passive,
    "third person": _third_person,
    "framed": _framed,
    "joined": _joined,
    "synonym": _synonym,
}
