"""Bytes -> text, whatever wrote them.

By their mark, by their NULs, as UTF-8, as an East Asian encoding; and every byte that is none of these as Windows-1252.
"""

import codecs
import re

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
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
    b"7z\xbc\xaf": "a 7z archive",
}
# Encoding, and the charset with the lead bytes of its everyday letters. Korean is as everyday in GB 2312, so it is
# asked first; Japanese is known by its kana.
_EAST_ASIAN = (
    ("cp932", "euc_jp", range(0xB0, 0xD0)),
    ("euc_jp", "euc_jp", range(0xB0, 0xD0)),
    ("cp949", "euc_kr", range(0xB0, 0xC9)),
    ("gb18030", "gb2312", range(0xB0, 0xD8)),
    ("big5", "big5", range(0xA4, 0xC7)),
)
_HIGH = re.compile(rb"[\x80-\xff]+")
ERRORS = "loccit.windows"


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """One odd byte is what Windows-1252 says it is; the text around it stays what it is."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    odd = error.object[error.start : error.end]
    if error.encoding.startswith(("utf-16", "utf-32")):
        return "\ufffd", error.end
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in odd), error.end


codecs.register_error(ERRORS, _as_windows)


def encoding_of(head: bytes) -> str:
    """The name of the encoding of what begins with `head`, to be read with `ERRORS`."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return name
    by_nulls = _by_nulls(head[:4_096])
    if by_nulls:
        return by_nulls
    return "utf-8" if _decodes(head, "utf-8") is not None else _east_asian(head) or "utf-8"


def binary_kind(head: bytes) -> str | None:
    """What a file is that is not text at all."""
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def is_text(head: str) -> bool:
    """Whether what was decoded has no more control characters than text has by accident."""
    return len(_CONTROL.findall(head)) * 20 <= len(head)


def _by_nulls(head: bytes) -> str | None:
    """UTF-16 without its mark is valid UTF-8 full of NULs: every second byte of Latin text."""
    if len(head) < 4 or head.count(0) * 3 < len(head):
        return None
    return "utf-16-le" if head[1::2].count(0) > head[0::2].count(0) else "utf-16-be"


def _decodes(head: bytes, encoding: str) -> str | None:
    """The text, but for a letter cut off at the end; None if it is no text in that encoding."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None


def _east_asian(head: bytes) -> str | None:
    """Western text has single odd bytes among letters, East Asian text has them in rows of everyday letters."""
    runs = _HIGH.findall(head)
    if sum(len(run) for run in runs if len(run) > 1) * 2 < sum(map(len, runs)):
        return None
    found = [(_everyday(_decodes(head, name), charset, leads), name) for name, charset, leads in _EAST_ASIAN]
    share, name = max(found, key=lambda each: each[0])
    return name if share > 0.7 else None


def _everyday(text: str | None, charset: str, leads: range) -> float:
    """The share of everyday letters among those beyond ASCII."""
    letters = [letter for letter in (text or "")[:20_000] if letter > "\x7f"]
    kana = sum("\u3041" <= letter <= "\u30fe" for letter in letters)
    if not letters or (charset == "euc_jp" and kana * 10 < len(letters)):
        return 0.0
    return sum(_is_everyday(letter, charset, leads) for letter in letters) / len(letters)


def _is_everyday(letter: str, charset: str, leads: range) -> bool:
    if "\u3000" <= letter <= "\u30ff" or "\uff00" <= letter <= "\uff5e":
        return charset == "euc_jp" or letter in "\u3001\u3002\u300a\u300b\uff0c\uff1a\uff08\uff09\uff1b"
    return letter.encode(charset, "ignore")[:1] in {bytes([lead]) for lead in leads}
