"""Bytes -> text, whatever wrote them."""

import re

from vectorstore.errors import Unreadable

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_MAGIC = {
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a ZIP archive or an office file",
    b"\xd0\xcf\x11\xe0": "an old office file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "a database",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
}


def decode(content: bytes, name: str) -> str:
    """The text of a file: by its mark, by its NULs (UTF-16), as UTF-8, else as Windows-1252. Raises Unreadable."""
    for magic, kind in _MAGIC.items():
        if content.startswith(magic):
            raise Unreadable(f"{name} is {kind}, not text; export the records as text or JSON.")
    encoding = next((encoding for bom, encoding in _BOMS if content.startswith(bom)), None) or _by_nulls(content)
    try:
        text = content.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        text = content.decode(encoding, "replace") if encoding else _single_byte(content)
    if len(_CONTROL.findall(text[:100_000])) * 20 > len(text[:100_000]):
        raise Unreadable(f"{name} is not text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _by_nulls(content: bytes) -> str | None:
    """UTF-16 without its mark is valid UTF-8 full of NULs: every second byte of Latin text."""
    head = content[:4_096]
    if head.count(0) * 3 < len(head) or len(head) < 4:
        return None
    return "utf-16-le" if head[1::2].count(0) > head[0::2].count(0) else "utf-16-be"


def _single_byte(content: bytes) -> str:
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")
