"""Words whose exchange changes what is said, and words whose exchange does not (tables, as stems)."""

import re
from collections.abc import Iterable

from service import words

Groups = tuple[frozenset[str], ...]


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(words.stem, text.split()))


_OPPOSITES = """
increase increasing raise grow growth rise gain boost elevate augment amplify upregulate up-regulate enlarge expand
    | decrease reduce reduction lower shrink fall drop decline cut diminish downregulate down-regulate attenuate loss
higher greater larger bigger more | lower smaller fewer less lesser
high large big long huge | low small short tiny
better improve improvement superior enhance enhancement strengthen
    | worse worsen degrade degradation inferior deteriorate impair impairment weaken harm damage hurt
best highest largest most | worst lowest smallest least
faster quicker accelerate speedup fast quick rapid speed | slower slow slowdown decelerate delay
outperform surpass exceed beat | underperform underperforms lag
promote stimulate activate induce enable enhance facilitate trigger cause
    | inhibit suppress block prevent inactivate repress disable hinder impede preclude abolish
protect protective benefit beneficial safe safer | risk harmful unsafe dangerous vulnerable toxic detrimental adverse
sensitive susceptible | resistant insensitive resistance
benign | malignant
above over exceeding | below under
before prior | after
with | without
positive positively | negative negatively
upper | lower
maximum maximize maximal | minimum minimize minimal
possible feasible | impossible infeasible
always | never sometimes
all every | none
easy easily simple simpler straightforward | difficult hard complex complicated challenging
strong stronger robust | weak weaker fragile brittle
accept include inclusion presence present | reject exclude exclusion absence absent
success successful succeed | failure fail unsuccessful
gain win | lose loss
same similar identical equal | different distinct dissimilar unequal
many numerous abundant | few rare scarce
common frequent often usually | rare rarely infrequent seldom
early earlier first initial | late later last final
local | global
online | offline
dense | sparse
deep | shallow
wide broad | narrow
discrete | continuous
static | dynamic
linear | nonlinear
convex | concave nonconvex
deterministic | stochastic random
synchronous | asynchronous
centralized | decentralized distributed
homogeneous | heterogeneous
supervised | unsupervised
parametric | nonparametric
biased | unbiased
stable | unstable
known | unknown
finite | infinite
explicit | implicit
direct | indirect
internal | external
forward | backward
input | output
encoder encode | decoder decode
old older | young younger new newer
men male man | women female woman
cheap inexpensive | expensive costly
optimal | suboptimal
balanced | imbalanced
efficient | inefficient
effective | ineffective
sufficient | insufficient
necessary | unnecessary
consistent | inconsistent
accurate accurately accuracy | inaccurate inaccurately inaccuracy
related associated linked correlated dependent | unrelated independent uncorrelated
complete | incomplete
reliable | unreliable
active | inactive
favorable | unfavorable
likely | unlikely
significant significantly | insignificant nonsignificant
dependent | independent
ahead | behind
"""
OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (_stems(left), _stems(right))
    for left, right in (line.split("|") for line in re.sub(r"\n\s+", " ", _OPPOSITES.strip()).splitlines())
)
_PREFIX = re.compile(r"^(?:un|non|in|im|ir|il|dis|anti)(?=[a-z]{4})")


def _index(groups: Iterable[frozenset[str]]) -> dict[str, frozenset[int]]:
    """Stem -> the numbers of the groups that hold it."""
    found: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for stem in group:
            found.setdefault(stem, set()).add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}


_LEFT, _RIGHT = _index(left for left, _ in OPPOSITES), _index(right for _, right in OPPOSITES)
_NOTHING: frozenset[int] = frozenset()


def sides(stem: str) -> frozenset[tuple[int, bool]]:
    """On which side (left: True) of which opposition a stem stands."""
    left = ((number, True) for number in _LEFT.get(stem, _NOTHING))
    right = ((number, False) for number in _RIGHT.get(stem, _NOTHING))
    return frozenset([*left, *right])


def opposite(one: str, other: str) -> bool:
    """Whether two stems turn each other's sentence round: by table, or by a prefix that denies."""
    if one == other:
        return False
    if _PREFIX.sub("", one) == other or _PREFIX.sub("", other) == one:
        return True
    return any((number, not left) in sides(other) for number, left in sides(one))


_SYNONYMS = """
show demonstrate prove illustrate reveal indicate find report confirm observe establish verify validate evidence exhibit
propose introduce present develop design offer provide describe devise suggest put devised
use employ utilize leverage apply adopt exploit rely harness via using through
method approach technique algorithm framework methodology scheme procedure strategy solution
model network architecture
achieve attain obtain reach get gain yield deliver give
improve enhance boost better increase raise strengthen advance improvement enhancement
reduce decrease lower cut lessen diminish minimize reduction
exist current present available prior previous earlier conventional traditional standard
novel new first
significant substantial considerable great dramatic notable marked remarkable large strong
important crucial key critical essential vital central significant main
often frequent common usual general typical
require need demand necessitate
remain stay keep continue
large big huge massive vast great large-scale
problem issue challenge task difficulty limitation question
challenging hard difficult
allow enable let permit support make facilitate
effective well successful efficient good
efficient fast quick effective
generate produce create make synthesize construct build yield form
various different diverse several multiple many range variety numerous wide
study investigate examine analyze explore consider research address
analysis study investigation examination
evaluate assess test measure benchmark evaluation
experiment test evaluation study experimental empirical
outperform surpass exceed beat better
compare relative comparison
performance accuracy quality result
accurate accuracy precise correct
dataset data benchmark corpus set
train learn training learning fit
estimate predict compute infer calculate
address tackle solve handle resolve deal overcome mitigate alleviate
cause lead result induce produce
fast quick rapid speed faster quicker speedup accelerate
higher greater larger bigger more better
lower smaller fewer less
long lengthy
such like including example instance e.g
combine integrate incorporate unify merge join
optimize optimization
paper work study article research
author we researcher
theoretical theory
show display
contain include comprise have consist
aim goal objective purpose
rely depend
link associate relate correlate connect tie
patient subject participant people individual human person
tumor tumour cancer carcinoma
mouse mice murine
level amount concentration
simple easy straightforward
rare rarely seldom infrequent hardly barely scarcely few
identify detect find discover recognize
maintain preserve retain keep
select choose pick
adapt adjust tune
capture model represent
extend generalize expand
role function
"""
SYNONYMS: Groups = tuple(_stems(line) for line in _SYNONYMS.strip().splitlines())


_SENSES = _index(SYNONYMS)


def senses(stem: str) -> frozenset[int]:
    """The groups of synonyms that a stem belongs to."""
    return _SENSES.get(stem, _NOTHING)


def alike(one: str, other: str) -> bool:
    """Whether two stems say the same in scientific prose: by table, or as forms of one word."""
    return one == other or bool(senses(one) & senses(other)) or (one[:5] == other[:5] and _same_root(one, other))


def _same_root(one: str, other: str) -> bool:
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= max(5, min(len(one), len(other)) - 2)


# A draft says of an abstract that it reports something: these words need no words of the abstract behind them.
FRAME = _stems(
    "author authors paper work study abstract article report state describe according show find propose present"
    " introduce note claim explain research researcher use method approach technique result experiment experimental"
    " specifically moreover furthermore additionally addition finally notably particular called named namely"
    " respectively therefore thus hence however overall e.g i.e also new novel provide main say mention"
    " highlight summary discuss end"
)
IDIOM = re.compile(
    r"\bworst[- ]case\b|\bbest of (?:our|the authors['’]) knowledge\b|\bat (?:least|most|best)\b|\bmore or less\b",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(?:may|might|could|can|potential(?:ly)?|possib(?:ly|le)|perhaps|likely|presumably|suggest(?:s|ed|ing)?"
    r"|appears?|seems?|tends?|hypothesi[sz]e[sd]?|conjecture[sd]?|believed?|believe|indicat(?:es?|ed|ing)|often"
    r"|sometimes|usually|typically|generally|frequently|commonly|mostly|partially|partly|largely|nearly|almost"
    r"|some|many|most|several|certain|approximately|about|around|roughly|should|would|expected?|aims?|hopes?)\b",
    re.IGNORECASE,
)
UNIVERSAL = re.compile(
    r"\b(?:all|every|each|always|entire(?:ly)?|complete(?:ly)?|full(?:y)?|never|any|exact(?:ly)?|universal(?:ly)?"
    r"|certain(?:ly)|definite(?:ly)?|prov(?:e|es|ed|en)|guarantee[sd]?|only|perfect(?:ly)?|invariably)\b",
    re.IGNORECASE,
)
CUE = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|nothing|nobody|hardly|barely|scarcely|rarely|seldom"
    r"|(?<!\ba )few(?!-)|fail(?:s|ed|ing|ure)?"
    r"|lack(?:s|ed|ing)?|"
    r"unable|impossible|insufficient|in(?:capable|effective)|absent|absence|free of|rather than|instead of)\b|n['’]t\b",
    re.IGNORECASE,
)
DOUBLE = re.compile(r"\bnot only\b|\bno longer than\b|\bnot just\b|\bnot merely\b|\bnone the less\b", re.IGNORECASE)
