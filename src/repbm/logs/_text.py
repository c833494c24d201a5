"""Tables as text, whatever program wrote them: separators, decimal commas, character sets, compression."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from pathlib import Path

import polars as pl

from repbm.logs._typed import MISSING_WORDS

_SEPARATORS = ",;\t|"
_HEAD = 1 << 16
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def read_text(source: Path | bytes) -> pl.DataFrame:
    """A table of text from a file or its content: comma, semicolon, tab or bar between columns.

    UTF-8, UTF-16 or, where it is neither, Windows' Latin-1. With other separators than commas, numbers may have decimal
    commas. Words for missing values are nothing.
    """
    head = _head(source)
    if _wide(head):
        source = _utf8(_content(source), "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-16-le")
        head = source[:_HEAD]
    try:
        return _read(source, head)
    except pl.exceptions.ComputeError as fault:
        if "utf-8" not in str(fault).lower():
            raise
        return _read(_utf8(_content(source), "cp1252"), head)


def _read(source: Path | bytes, head: bytes) -> pl.DataFrame:
    first, _, rest = head.lstrip(codecs.BOM_UTF8).partition(b"\n")
    separator = max(_SEPARATORS, key=lambda mark: first.count(mark.encode()))
    comma = separator != "," and bool(re.search(rb"\d,\d", rest)) and not re.search(rb"\d\.\d", rest)
    return pl.read_csv(
        source if isinstance(source, Path) else io.BytesIO(source),
        separator=separator,
        decimal_comma=comma,
        null_values=list(MISSING_WORDS),
        infer_schema_length=None,
        glob=False,
    )


def _head(source: Path | bytes) -> bytes:
    """The first lines, unpacked."""
    if isinstance(source, bytes):
        start = source[:_HEAD]
    else:
        with source.open("rb") as file:
            start = file.read(_HEAD)
    if start.startswith(_GZIP):
        with gzip.open(source if isinstance(source, Path) else io.BytesIO(source)) as file:
            return file.read(_HEAD)
    if start.startswith(_ZSTD):
        # Polars unpacks it: whole lines as one column.
        lines = pl.read_csv(source, has_header=False, separator="\x01", quote_char=None, n_rows=50)
        return "\n".join(lines.to_series().fill_null("").to_list()).encode()
    return start


def _content(source: Path | bytes) -> bytes:
    content = source.read_bytes() if isinstance(source, Path) else source
    return gzip.decompress(content) if content.startswith(_GZIP) else content


def _utf8(content: bytes, encoding: str) -> bytes:
    return content.decode(encoding, "strict" if encoding.startswith("utf") else "replace").encode()


def _wide(head: bytes) -> bool:
    """Whether characters take two bytes: by its mark, or since every other byte is empty."""
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or head[1:400:2].count(0) > 0.9 * len(head[1:400:2]) > 1
