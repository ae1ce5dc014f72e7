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
# Where an order begins. Behind anything else the same words are part of a question: "Which models act as a planner?"
_BEGINS = (
    r"(?:^\W*|[.!?:;>\n]\W{0,5}|\bplease\s{1,3}"
    r"|\b(?:you (?:must|should|will|have to|can)|(?:can|could|would|will) you|(?:want|need) you to)\s{1,3})"
)
_ORDER = re.compile(
    rf"{_BEGINS}(?:(?:ignore|disregard|forget|override|bypass)\b.{{0,40}}\b(?:instruction|rule|prompt|guideline"
    r"|polic(?:y|ies)|everything|above|previous)|you are (?:now|no longer)\b|act as (?:an?|my)\b|pretend (?:to be|you)"
    r"|(?:reveal|print|show|repeat|tell me)\b.{0,30}\b"
    r"(?:the (?:system|hidden|secret|initial|original|above|previous) (?:prompt|instructions)\b"
    r"|the (?:prompt|instructions)\W*(?:$|[.!?\n]))|system\s?:\s|from now on\b"
    r"|(?:enter|enable|activate|switch to) (?:\w+ )?(?:jailbreak|developer) mode\b)"
    r"|\b(?:reveal|print|show|repeat|tell me)\b.{0,30}\byour (?:\w+ )?(?:prompt|instructions)\b",
    re.IGNORECASE | re.DOTALL,
)
_CREATIVE = re.compile(
    r"^\W*(?:please |can you |could you |kindly )*(?:write|compose|draft|make up|invent"
    r"|generate)\b (?:me )?(?:an? |some |the )?(?:\w+ )?"
    r"(?:haiku|poem|song|story|joke|limerick|essay|e-?mail|letter|tweet|rap|recipe)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"[\W_]*")
# Longer ones are no greetings, and would cost the patterns the square of their length.
_LONGEST_GREETING = 120

HELP = "Ask about the papers of the collection, for example what a method does or which papers study a topic."


def not_a_question(text: str) -> str | None:
    """Why `text` is not a question to the collection, as a sentence for its reader; None if it may be one."""
    if _NOTHING.fullmatch(text):
        return f"The question holds no words. {HELP}"
    short = " ".join(text.split())
    short = short if len(short) <= _LONGEST_GREETING else ""
    if _GREETING.fullmatch(short):
        return f"Hello! This is not a question to the collection. {HELP}"
    if _THANKS.fullmatch(short) or _ABOUT_US.fullmatch(short):
        return f"This is not a question to the collection. {HELP}"
    if _CREATIVE.match(text):
        return f"The service answers from abstracts and writes nothing of its own. {HELP}"
    if _ORDER.search(text):
        return f"Instructions to the system are not questions to the collection. {HELP}"
    return None
