"""What can go wrong below the service.

    VectorstoreError
    ├── FolderInUse          another process owns the data folder
    ├── FolderUnusable       the data folder can't be read or written
    ├── UnknownCollection    no collection of that name
    ├── BadCollectionName    a name the store does not take
    ├── BadCursor            a page was asked for by something that no page gave
    ├── EmbedderMismatch     the collection was built by another embedding model
    ├── Unreadable           a file that no reader understands
    └── EmbedderFailed       the embedding model gave no usable vectors

Each message is one sentence for a person: the thing, the reason, the way out.
"""


class VectorstoreError(Exception):
    """Base of every error that `vectorstore` raises on purpose."""


class FolderInUse(VectorstoreError):
    """Another process owns the data folder; `url` is where it serves, if it does."""

    def __init__(self, message: str, url: str | None = None) -> None:
        super().__init__(message)
        self.url = url


class FolderUnusable(VectorstoreError):
    """The data folder can't be created, read or written."""


class UnknownCollection(VectorstoreError):
    """No collection of that name."""


class BadCollectionName(VectorstoreError):
    """A collection name that the store does not take."""


class EmbedderMismatch(VectorstoreError):
    """The collection's vectors come from another embedding model."""


class Unreadable(VectorstoreError):
    """A file that no reader understands, is empty, or can't be decoded."""


class EmbedderFailed(VectorstoreError):
    """The embedding model raised, or gave vectors of the wrong count, size or value."""


class BadCursor(VectorstoreError):
    """A page was asked for by something that no page gave."""
