"""`provider:model` -> a model, and how one is asked.

providers   the table: which LangChain class serves a provider, with which options
endpoint    base URLs in one spelling, HTTP clients, proxies
drafting    draft and stream: deadline, retries, a reply read into a Draft
faults      what an endpoint's error means, in one sentence
embedder    any LangChain Embeddings as the store's Embedder
"""

from service.models.drafting import Draft, draft, stream
from service.models.embedder import RemoteEmbedder
from service.models.endpoint import normalise_base_url
from service.models.faults import translate
from service.models.providers import PROVIDERS, chat_model, embeddings

__all__ = [
    "PROVIDERS",
    "Draft",
    "RemoteEmbedder",
    "chat_model",
    "draft",
    "embeddings",
    "normalise_base_url",
    "stream",
    "translate",
]
