r"""The words, numbers and names of a sentence, in a form that can be compared (pure).

Two sentences that say the same thing differ in inflection, mark-up and spelling of numbers: "10,632 images" and
"10632 image", "2.1$\\times$" and "2.1x". Everything here maps such variants onto one form.
"""

import re
import unicodedata
from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]  # it ships no types

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing done down during each either et few for from further get gets got had has have
    having he her here hers him his how however i if in into is it it's its itself just let like many may me might
    more most much must my no nor not of off on once one only or other our ours out over own per s same she should
    so some such t than that the their theirs them then there there's these they this those through to too under
    until up upon us very via was we were what when where whether which while who whom whose why will with within
    without would yet you your yours
    """.split()
)
WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_FONTS = (
    "textit|textbf|emph|text|textrm|textsc|mathrm|mathcal|mathbb|mathbf|mathit|mathsf|operatorname|boldsymbol|bf|it|em"
    "|tilde|widetilde|left|right"
)
_MARKUP = re.compile(
    rf"\\(?:{_FONTS})\b\*?|</?(?:i|b|em|strong|sub|sup|sc|italic|bold)>|[{{}}$*`~^]|\\[,;:!]|\\(?=[%&#_$])"
)
_SIGNS = {
    "times": "×",
    "sim": "~",
    "pm": "±",
    "sqrt": "√",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "lt": "<",
    "gt": ">",
}
_SIGN = re.compile(rf"\\({'|'.join(_SIGNS)})(?![A-Za-z])")
# A dollar sign beside a number is money, unless it opens or closes mathematics.
MATH = re.compile(r"\$(?=\S)[^$\n]*(?<=\S)\$(?!\d)")
_MONEY = re.compile(r"\\?\$(?=\d)|(?<=\d)\s?\\?\$")
_NON = re.compile(r"\b[nN]on[- ](?=[a-z]{4})")
_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=8_192)
def plain(text: str) -> str:
    """`text` without mark-up (LaTeX font commands, HTML and Markdown emphasis), compatibility forms folded."""
    text = unicodedata.normalize("NFKC", _SIGN.sub(lambda match: _SIGNS[match.group(1)], text))
    text = _MONEY.sub("＄", text) if MATH.sub("", text).count("$") else text
    text = _MARKUP.sub("", text).replace("−", "-").replace("‐", "-").replace("‑", "-")
    return _NON.sub("non", re.sub(r"(?<=\d)x\b", "×", text))


# Questions in British spelling are asked of abstracts in American spelling, and the other way round.
_BRITISH = re.compile(
    r"(?<=[a-z]{2})(?:(?P<is>is)(?=(?:e[ds]?|ers?|ing|ations?|able)$)|(?P<our>our)(?=(?:s|ed|ing|al|ally|able)?$)"
    r"|(?P<ll>ll)(?=(?:ed|ing|er|ers)$))"
)
_NOT_BRITISH = re.compile(
    r"(?:un|mis|re|self|semi|de)?(?:a?ris|sunris|p?rais|nois|pois|\w*wis|precis|concis|exercis|\w*promis|premis"
    r"|surpris|enterpris|compris|disguis|revis|"
    r"devis|supervis|advis|improvis|demis|franchis|cruis|bruis)(?:e[ds]?|ing|ers?)$|four|hour|our|your|pour|tour"
    r"|sour|flour|detour|contour|"
    r"\w*(?:tall|call|fill|kill|pull|roll|sell|spell|tell|will|enroll)\w*$"
)


def american(word: str) -> str:
    """American spelling of a lower-case word: optimise -> optimize, behaviour -> behavior, modelling -> modeling."""
    if _NOT_BRITISH.match(word):
        return word
    return _BRITISH.sub(lambda match: {"is": "iz", "our": "or", "ll": "l"}[match.lastgroup or "is"], word)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The English (Porter 2) stem of one word, accents folded."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return str(_STEMMER.stemWord(american(folded.replace("’", "'").removesuffix("'s"))))


def tokens(text: str) -> list[str]:
    """The words of `text` in order, as written, mark-up gone."""
    return WORD.findall(plain(text))


@lru_cache(maxsize=8_192)
def stems(text: str) -> tuple[str, ...]:
    """Stems of the content words of `text` in order: no stop words, no bare punctuation."""
    return tuple(stem(word) for word in tokens(text) if word.casefold() not in STOP_WORDS)


# Longer runs of letters are no names, and would cost the pattern below its cube.
_LONGEST_NAME = 60
_NAME = re.compile(r"[^\W_]+(?:[-‑+./][^\W_]+)*\+*")
_HAS_NAME_SHAPE = re.compile(r"[^\W\d_]*[a-z][^\W\d_]*[A-Z]|^[A-Z]{2,}|[A-Za-z]\d|\d[A-Z]|^[A-Z][a-z]*\d|\+$")
_OF_A_NUMBER = re.compile(r"\d\s?[nμmkMGT]?(?:W|V|J|Hz|B|b)$")
_PLAIN_CAPITAL = re.compile(r"^[A-Z][a-z’']+$")


@lru_cache(maxsize=8_192)
def names(text: str) -> frozenset[str]:
    """Named methods, data sets and people in `text`, folded: words with inner capitals, digits among letters, acronyms,
    and capitalised words that do not open the sentence.
    """
    text = plain(text)
    found = set()
    for match in _NAME.finditer(text):
        word = match.group()
        if len(word) > _LONGEST_NAME or _OF_A_NUMBER.search(text[max(0, match.start() - 2) : match.end()]):
            continue
        opens = not text[: match.start()].strip(" \"'“‘(*-") or text[: match.start()].rstrip(" \"'“‘(*")[-1:] in {
            ".",
            ":",
            "?",
            "!",
        }
        if _HAS_NAME_SHAPE.search(word) or (
            _PLAIN_CAPITAL.match(word) and not opens and word.casefold() not in STOP_WORDS
        ):
            found.add(fold_name(word))
    return frozenset(found - {""})


def fold_name(word: str) -> str:
    """A name as compared: letters and digits only, lower case, plural s of an acronym gone."""
    if re.fullmatch(r"[A-Z0-9-]{2,}s", word):
        word = word[:-1]
    return american(re.sub(r"[^\w+]|_", "", word).casefold())
