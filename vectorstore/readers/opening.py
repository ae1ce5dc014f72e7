"""A file of bytes -> its text, as a stream: unpacked, decoded, bounded; the file itself is left open."""

import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TextIO

from vectorstore.errors import Unreadable
from vectorstore.readers.encoding import ERRORS, binary_kind, encoding_of, is_text

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Unpacked; a small file that unpacks to more than this is a trap, or should be split.
MAX_BYTES = 4_000_000_000
_HEAD = 2**18
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Opened:
    """`head` is the beginning of what `stream` gives from its first character; all line ends are line feeds."""

    head: str
    stream: TextIO


class _Bytes(io.RawIOBase):
    """What `data` holds, its first bytes known. Closing it does not close `data`. Raises Unreadable while reading."""

    def __init__(self, data: BinaryIO | gzip.GzipFile, name: str, most: int) -> None:
        super().__init__()
        self._data = data
        self._name = name
        self._left = most
        self.head = self._ahead = b""
        while len(self.head) < _HEAD and (more := self._next(_HEAD - len(self.head))):
            self.head += more
        self._ahead = self.head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        piece, self._ahead = self._ahead[: len(view)], self._ahead[len(view) :]
        piece = piece or self._next(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def _next(self, size: int) -> bytes:
        try:
            piece = self._data.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise Unreadable(f"{self._name} is a damaged gzip file.") from None
        self._left -= len(piece)
        if self._left < 0:
            raise Unreadable(f"{self._name} holds more than {MAX_BYTES:,} bytes; split it and add the parts.")
        return piece


def opened(data: BinaryIO, name: str) -> Opened:
    """The text of a file, gzip or not. Raises Unreadable, here or while reading: empty, not text, damaged, endless."""
    content = _Bytes(data, name, MAX_BYTES)
    if content.head.startswith(_GZIP):
        content = _Bytes(gzip.GzipFile(fileobj=io.BufferedReader(content)), name, MAX_BYTES)
    kind = binary_kind(content.head)
    if kind is not None:
        raise Unreadable(f"{name} is {kind}, not text; export the records as text or JSON.")
    encoding = encoding_of(content.head)
    head = _decoded(content.head, encoding)
    if not is_text(head):
        raise Unreadable(f"{name} is not text.")
    if not head.strip() and len(content.head) < _HEAD:
        raise Unreadable(f"{name} is empty.")
    return Opened(head, io.TextIOWrapper(io.BufferedReader(content), encoding, ERRORS, newline=None))


def _decoded(head: bytes, encoding: str) -> str:
    stream = io.TextIOWrapper(io.BytesIO(head), encoding, ERRORS, newline=None)
    return stream.read()
