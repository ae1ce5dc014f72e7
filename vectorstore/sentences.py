"""Where the sentences of an abstract begin and end.

Scientific prose is full of full stops that end nothing ("e.g.", "et al.", "Fig. 2", "J. Smith") and of
mathematics in which nothing ends. A sentence cut in two is a quote cut in two, so when in doubt
this module does not cut.
"""

import re

Span = tuple[int, int]

_END = re.compile(r"""[.!?。！？]+(?:["'”’)\]*}]|'')*(?=\s|$)|[。！？]+|\n\s*\n""")
_MATH = re.compile(
    r"\$\$.{1,2000}?\$\$|\$(?=\S)[^$\n]{0,2000}?(?<=\S)\$|\\\(.{1,500}?\\\)|\\\[.{1,500}?\\\]", re.DOTALL
)
_OPENS = re.compile(r"""\s+["'“‘(\[*$\\{]*[A-Z0-9À-ÖØ-Þ\u0370-\u1fff\u3040-\uffff(\[$\\*“"']""")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[~])(?:e\.g|i\.e|cf|vs|viz|al|etc|resp|approx|ca|fig|figs|eq|eqs|eqn|sec|secs|ref|refs|tab|no|nos"
    r"|vol|pp?|"
    r"ch|thm|lem|prop|def|dr|prof|mr|mrs|ms|st|jr|sr|inc|ltd|co|univ|dept|spp?|subsp|var|w\.r\.t|w\.l\.o\.g"
    r"|i\.i\.d|a\.k\.a|u\.s|"
    r"u\.k|ph\.d|a\.m|p\.m)\.$",
    re.IGNORECASE,
)
# These may well end a sentence ("… and ReLU, etc. We show"), the others need more than a capital behind them.
_MAY_END = re.compile(r"(?:etc|al|a\.m|p\.m|u\.s|u\.k|i\.i\.d|ph\.d|inc|ltd|co|no|ms|st)\.$", re.IGNORECASE)
_INITIAL = re.compile(r"(?:^|[\s.(])[A-Z]\.$")
_STARTERS = re.compile(
    r"\s+(?:We|Our|In|The|This|These|Those|It|To|For|However|Moreover|Furthermore|A|An|As|By|On|With|While|Here"
    r"|Then|Finally)\b"
)


def sentences(text: str) -> list[Span]:
    """Spans `(start, end)` of the sentences of `text`, in order, without surrounding white space.

    Joined, they hold every character of `text` that is not white space. Pure and total: any string works.
    """
    spans: list[Span] = []
    start = 0
    for end in _ends(text):
        _append(spans, text, start, end)
        start = end
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    body = text[start:end]
    left = start + len(body) - len(body.lstrip())
    right = start + len(body.rstrip())
    if left < right:
        spans.append((left, right))


def _ends(text: str) -> list[int]:
    mathematics = [match.span() for match in _MATH.finditer(text)]
    return [
        match.end()
        for match in _END.finditer(text)
        if not any(left < match.start() < right - 1 for left, right in mathematics) and _is_end(text, match)
    ]


def _is_end(text: str, match: re.Match[str]) -> bool:
    mark, rest = match.group(), text[match.end() :]
    if not rest.strip() or mark.isspace() or mark[0] in "。！？":
        return True
    if mark[0] in "!?":
        return _OPENS.match(rest) is not None
    before = text[max(0, match.start() - 16) : match.start() + 1]
    if _INITIAL.search(before):
        return _STARTERS.match(rest) is not None and not before[-3:].startswith(".")
    if _ABBREVIATION.search(before):
        return _MAY_END.search(before) is not None and _STARTERS.match(rest) is not None
    return _OPENS.match(rest) is not None
