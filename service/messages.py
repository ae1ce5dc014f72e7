"""A rendered prompt -> LangChain's messages."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

_ROLES = {"system": SystemMessage, "user": HumanMessage}


def messages_of(rendered: Sequence[tuple[str, str]]) -> list[BaseMessage]:
    """(role, text) pairs as messages, in order."""
    return [_ROLES[role](text) for role, text in rendered]
