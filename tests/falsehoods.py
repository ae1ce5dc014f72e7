"""Makers of false variants: nearly the words of the abstract, and not what it says. See `variants`."""

import re

from service import words
from tests.variants import Maker, Scene, lowered, sub_words, table

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,]*\d)")


def _number_changed(scene: Scene) -> str | None:
    found = list(_NUMBER.finditer(scene.said))
    if not found:
        return None
    match = scene.random.choice(found)
    old = match.group().replace(",", "")
    new = (
        f"{float(old) * scene.random.choice((0.5, 1.1, 1.5, 2, 3)) + 0.3:.1f}"
        if "." in old
        else str(int(old) + scene.random.choice((1, 2, 7, 10, 90)))
    )
    return scene.said[: match.start()] + new + scene.said[match.end() :]


_UNITS = (
    (r"\s?\\?%(?! confidence)", " times"),
    (r"\s?(?:\$?\\times\$?|(?<=\d)x\b|(?<=\d)-fold| times)", "%"),
    (r"(?<=\d)-bit\b", "-byte"),
    (r"(?<=\d)\s?(?:M|million)\b", " billion"),
    (r"(?<=\d)\s?(?:B|billion)\b", " million"),
    (r"(?<=\d)\s?hours\b", " minutes"),
    (r"(?<=\d)\s?(?:ms|seconds)\b", " hours"),
    (r"(?<=\d)K\b", "M"),
)  # fmt: skip


def _unit_changed(scene: Scene) -> str | None:
    for pattern, new in _UNITS:
        if re.search(r"\d" + pattern if not pattern.startswith("(?<=") else pattern, scene.said):
            return re.sub(rf"(?<=\d){pattern}", new, scene.said, count=1)
    return None


def _numbers_exchanged(scene: Scene) -> str | None:
    found = list(_NUMBER.finditer(scene.said))
    if len(found) < 2:
        return None
    one, other = found[0], found[-1]
    if one.group() == other.group() or re.search(r"\b(?:to|and|-|–)\s*$", scene.said[one.end() : other.start()][:6]):
        return None
    said = scene.said
    return said[: one.start()] + other.group() + said[one.end() : other.start()] + one.group() + said[other.end() :]


def _names(text: str) -> list[str]:
    """Names as they are written, that a reader would take for a thing: not "The", no initial capital of a sentence."""
    known = words.names(text)
    found = re.findall(r"(?<![\w\\$-])[A-Z][\w-]*[A-Za-z0-9](?![\w-])", text)
    return list(dict.fromkeys(name for name in found if words.fold_name(name) in known and len(name) > 2))


def _entity_swapped(scene: Scene) -> str | None:
    mine = _names(scene.said)
    others = [
        name for line in scene.abstract for name in _names(line) if words.fold_name(name) not in words.names(scene.said)
    ]
    if not mine or not others:
        return None
    old, new = scene.random.choice(mine), scene.random.choice(others)
    if old.casefold() in new.casefold() or new.casefold() in old.casefold():
        return None
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, scene.said)


def _entity_foreign(scene: Scene) -> str | None:
    mine, others = _names(scene.said), _names(scene.foreign)
    others = [name for name in others if name not in " ".join(scene.abstract)]
    if not mine or not others:
        return None
    return re.sub(rf"(?<![\w-]){re.escape(mine[0])}(?![\w-])", others[0], scene.said)


def _names_exchanged(scene: Scene) -> str | None:
    mine = _names(scene.said)
    if len(mine) < 2:
        return None
    one, other = mine[0], mine[-1]
    between = scene.said[scene.said.index(one) + len(one) : scene.said.rindex(other)]
    if re.fullmatch(r"(?:and\b|or\b|the\b|an?\b|our\b|[A-Z][\w-]*|[\s,/()])*", between):  # the order of a list is free
        return None
    if one in other or other in one or f"({other})" in scene.said or f"({one})" in scene.said:
        return None
    return re.sub(
        rf"(?<![\w-])(?:{re.escape(one)}|{re.escape(other)})(?![\w-])",
        lambda match: other if match.group() == one else one,
        scene.said,
    )


_ADD_NOT = table(
    "is:is not, are:are not, can:cannot, does:does not, was:was not, will:will not, has been:has not been"
    ", were:were not, should:should not"
)
_DO = r"\b(improves|outperforms|achieves|requires|provides|enables|allows|reduces|leads|shows|yields|depends|uses)\b"


def _negation_added(scene: Scene) -> str | None:
    if re.search(r"\b(?:not|no|without|cannot|neither|nor|only)\b", scene.said):
        return None
    changed = sub_words(r"\b(?:is|are|can|does|was|will|were|should)\b", _ADD_NOT, scene.said, scene.random)
    if changed:
        return changed
    if re.search(_DO, scene.said):
        return re.sub(_DO, lambda match: f"does not {match.group().removesuffix('s')}", scene.said, count=1)
    return None


def _negation_removed(scene: Scene) -> str | None:
    changed = re.sub(r"\bcannot\b", "can", scene.said)
    changed = re.sub(r"\b(?:do|does|did) not ", "", changed)
    changed = re.sub(r"\b(is|are|was|were|has|have|can|could|will|should|may) not (?!only|just)", r"\1 ", changed)
    changed = re.sub(r"\bwithout\b", "with", changed) if changed == scene.said else changed
    changed = re.sub(r"\bno (?=[a-z])", "", changed) if changed == scene.said else changed
    return None if changed == scene.said else changed


_OPPOSITE = table("""
    increase:decrease, increases:decreases, increasing:decreasing, increased:decreased, decrease:increase
    decreases:increases, improve:degrade, improves:degrades, improving:degrading, improved:degraded, higher:lower
    lower:higher, better:worse, worse:better, faster:slower, slower:faster, reduce:increase, reduces:increases
    reducing:increasing, reduced:increased, larger:smaller, smaller:larger, more:less, fewer:more
    outperforms:underperforms, outperform:underperform, strong:weak, weak:strong, robust:fragile
    efficient:inefficient, positive:negative, negative:positive, enhance:weaken, enhances:weakens
    enhancing:weakening, easy:hard, hard:easy, high:low, low:high, large:small, small:large, maximize:minimize
    minimize:maximize, minimizing:maximizing, best:worst, accelerate:slow, accelerates:slows, superior:inferior
    inferior:superior, upper:lower, convex:nonconvex, stable:unstable, linear:nonlinear, simple:complex
    complex:simple, first:last, effective:ineffective, dense:sparse, sparse:dense, supervised:unsupervised
    unsupervised:supervised, online:offline, offline:online, discrete:continuous, continuous:discrete
    biased:unbiased, unbiased:biased, local:global, global:local
""")


def _direction_turned(scene: Scene) -> str | None:
    return sub_words(r"[a-z]+", _OPPOSITE, scene.said, scene.random)


def _sides_swapped(scene: Scene) -> str | None:
    """A outperforms B -> B outperforms A, where both are short."""
    match = re.search(
        r"\b((?:[A-Z][\w-]+|[Oo]ur (?:method|approach|algorithm|model)|[Tt]he proposed \w+|[Ii]t|\w+ methods))"
        r" ((?:consistently |significantly |substantially |greatly |also )?(?:outperforms?|surpass(?:es)?|exceeds?"
        r"|beats?|is \w+ than|improves (?:over|upon)))"
        r" ((?:[\w-]+ ){0,3}[\w-]+)(?=[,.]| (?:on|in|by|across|with|for|while|and|when)\b)", scene.said,
    )  # fmt: skip
    if match is None:
        return None
    left, verb, right = match.groups()
    return f"{scene.said[: match.start()]}{right} {verb} {lowered(left)}{scene.said[match.end() :]}"


_ASSERTED = table("""
    may be:is, might be:is, could be:is, can be:is, may not:does not, suggest:prove, suggests:proves
    suggesting:proving, potentially:certainly, possibly:certainly, likely:certainly, often:always, sometimes:always
    can potentially:certainly, appears to be:is, seems to be:is, seem to:do, tend to:always, tends to:always
    conjecture:prove, believe:prove, hypothesize:prove, may:will, might:will, could:will, indicate:prove
    indicates:proves
""")


def _hedge_removed(scene: Scene) -> str | None:
    pattern = "|".join(sorted(map(re.escape, _ASSERTED), key=len, reverse=True))
    return sub_words(rf"\b(?:{pattern})\b", _ASSERTED, scene.said, scene.random)


_WIDENED = table("""
    some:all, many:all, most:all, several:all, often:always, usually:always, sometimes:always, generally:always
    typically:always, mostly:entirely, partially:fully, partly:entirely, nearly:exactly, almost:exactly
    largely:entirely, certain:all, multiple:all, various:all, frequently:always, commonly:always, a few:all
    a wide range of:all
""")


def _scope_widened(scene: Scene) -> str | None:
    pattern = "|".join(sorted(map(re.escape, _WIDENED), key=len, reverse=True))
    return sub_words(rf"\b(?:{pattern})\b", _WIDENED, scene.said, scene.random)


_INVENTED = (
    ", and it runs in real time on mobile phones",
    ", which has been deployed in hospitals",
    ", at the cost of higher memory consumption",
    " because the gradients vanish",
    ", as confirmed by a user study",
    ", and the authors release all model weights",
    " without any additional training",
    ", which was previously unknown",
    ", unlike earlier work on protein folding",
    " even for quantum computers",
)


def _clause_invented(scene: Scene) -> str:
    return scene.said.rstrip(".") + scene.random.choice(_INVENTED) + "."


def _clause_foreign(scene: Scene) -> str:
    """A clause of another paper appended, as a draft does that mixes two papers up."""
    clause = re.split(r"[,;:]", scene.foreign.rstrip("."))[-1].strip()
    return f"{scene.said.rstrip('.')}, and {lowered(clause)}."


def _foreign_with_name(scene: Scene) -> str | None:
    """What another paper says, said of this one's method."""
    mine = [name for line in scene.abstract for name in _names(line) if name not in scene.foreign_abstract]
    theirs = _names(scene.foreign)
    if not mine:
        return None
    if theirs:
        return scene.foreign.replace(theirs[0], mine[0])
    changed = re.sub(r"^(?:We|Our \w+|This \w+|It)\b", mine[0], scene.foreign)
    return changed if changed != scene.foreign else f"With {mine[0]}, {lowered(scene.foreign)}"


def _word_swapped(scene: Scene) -> str | None:
    """A long word replaced by one that the abstract uses elsewhere."""
    pattern = r"(?<![\w\\-])[a-z]{7,}(?![\w-])"
    mine = [word for word in re.findall(pattern, scene.said) if word.endswith(("s", "ion", "ing", "ity", "ent"))]
    if not mine:
        return None
    old = scene.random.choice(mine)
    end = next(end for end in ("ion", "ing", "ity", "ent", "s") if old.endswith(end))
    held = set(words.stems(scene.said))
    others = [
        word for line in scene.abstract for word in re.findall(pattern, line)
        if word.endswith(end) and words.stem(word) not in held and word not in _OPPOSITE
    ]  # fmt: skip
    return re.sub(rf"\b{old}\b", scene.random.choice(others), scene.said, count=1) if others else None


FALSE: dict[str, Maker] = {
    "number changed": _number_changed,
    "unit changed": _unit_changed,
    "numbers exchanged": _numbers_exchanged,
    "name of the abstract": _entity_swapped,
    "name of another paper": _entity_foreign,
    "names exchanged": _names_exchanged,
    "negation added": _negation_added,
    "negation removed": _negation_removed,
    "direction turned": _direction_turned,
    "sides swapped": _sides_swapped,
    "hedge removed": _hedge_removed,
    "scope widened": _scope_widened,
    "clause invented": _clause_invented,
    "clause of another paper": _clause_foreign,
    "another paper's, with this name": _foreign_with_name,
    "word of the abstract": _word_swapped,
}
