"""What is not a question to the collection: greetings, chit-chat, orders to the system (pure).

Such input is answered in one sentence without looking anything up. The patterns are narrow on purpose: a question
wrongly turned away costs more than a greeting looked up in vain, which the floor refuses anyway.
"""

import re

_GREETING = re.compile(
    r"\W*(?:(?:hi|hello|hey|hey there|hi there|hello there|good (?:morning|afternoon|evening|day)|greetings|howdy"
    r"|servus|hallo|guten (?:tag|morgen|abend)|"
    r"bonjour|hola|salut|ciao)(?:[\s,]+(?:there|everyone|all|loccit|bot|assistant|friend))?[\s,!.?]*"
    r"(?:how are you(?: doing)?(?: today)?|how is it going|what'?s up|nice to meet you)?"
    r"|how are you(?: doing)?(?: today)?|what'?s up)\W*",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\W*(?:(?:many )?thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|cheers|great|good|ok(?:ay)?|cool|nice"
    r"|perfect|bye|goodbye|see you|good night|"
    r"(?:good|great|nice) (?:job|work|answer)|yes|no|sure|test(?:ing)?)(?:[\s,]+(?:thanks?(?: you)?|bye|loccit))?\W*",
    re.IGNORECASE,
)
_ABOUT_US = re.compile(
    r"\W*(?:who|what) are you(?: called)?\W*|\W*what(?:'s| is) your name\W*|\W*what can you do(?: for me)?\W*"
    r"|\W*(?:tell me a joke|sing (?:me )?a song)\b.*",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[.!?:;>\n]\s*|\bplease\s+)"
    r"(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|guideline|polic(?:y|ies)"
    r"|everything|above|previous)|"
    r"\byou are (?:now|no longer)\b|\bact as (?:an?|my)\b|\bpretend (?:to be|you)|\b(?:reveal|print|show|repeat"
    r"|tell me)\b.{0,30}\b(?:your|the) (?:system )?(?:prompt|instructions)\b|"
    r"\bsystem:\s|\bfrom now on\b|\bjailbreak mode\b|\bdeveloper mode\b",
    re.IGNORECASE | re.DOTALL,
)
_CREATIVE = re.compile(
    r"^\W*(?:please |can you |could you |kindly )*(?:write|compose|draft|make up|invent"
    r"|generate)\b (?:me )?(?:an? |some |the )?(?:\w+ )?"
    r"(?:haiku|poem|song|story|joke|limerick|essay|e-?mail|letter|tweet|rap|recipe)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"[\W_]*")

HELP = "Ask about the papers of the collection, for example what a method does or which papers study a topic."


def not_a_question(text: str) -> str | None:
    """Why `text` is not a question to the collection, as a sentence for its reader; None if it may be one."""
    if _NOTHING.fullmatch(text):
        return f"The question holds no words. {HELP}"
    if _GREETING.fullmatch(text):
        return f"Hello! This is not a question to the collection. {HELP}"
    if _THANKS.fullmatch(text) or _ABOUT_US.fullmatch(text):
        return f"This is not a question to the collection. {HELP}"
    if _CREATIVE.match(text):
        return f"The service answers from abstracts and writes nothing of its own. {HELP}"
    if _ORDER.search(text):
        return f"Instructions to the system are not questions to the collection. {HELP}"
    return None
