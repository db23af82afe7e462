"""The encoding of an XML document: its mark, else the one that it declares, else UTF-8."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""\A\s*<\?xml\b[^>]*?(\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["'])[^>]*?\?>"""
)
_DECLARATION = re.compile(r"""\A\s*<\?xml\b[^>]*?(\sencoding\s*=\s*["'][^"']*["'])""")


_SINGLE_BYTES = re.compile(r"(?:iso-?8859|windows-125|cp125|latin|us-ascii|ascii)", re.I)
"""Encodings whose texts are hardly ever UTF-8 too, but for plain English."""


class EncodingError(Exception):
    """A document is not in the encoding that it declares, or in one that is not known."""


def as_utf_8(data: bytes, /) -> bytes:
    r"""Returns an XML document in UTF-8, without an encoding in its declaration.

    A document that declares UTF-16 and has single bytes is UTF-8: so some programs write it. So is one
    that declares an encoding of single bytes, such as ISO-8859-1, where all its bytes are UTF-8.

    Raises:
        EncodingError: Says what the document declares.

    >>> as_utf_8(b'<?xml version="1.0" encoding="ISO-8859-1"?><a>\xfc</a>').decode()
    '<?xml version="1.0"?><a>ü</a>'
    >>> as_utf_8('<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>'.encode()).decode()
    '<?xml version="1.0"?><a>ü</a>'
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    declared = _DECLARED.match(data)
    if not encoding:
        name = declared[2].decode() if declared else "utf-8"
        is_other = name.lower().startswith(("utf-16", "ucs-2", "iso-10646"))
        is_other = is_other or (_SINGLE_BYTES.match(name) is not None and _is_utf_8(data))
        encoding = "utf-8" if is_other else name
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise EncodingError(
            f"the document declares {encoding}, no encoding that is known"
        ) from error
    except UnicodeDecodeError as error:
        what = f"{encoding}, which the document declares" if declared else encoding
        raise EncodingError(
            f"not {what}: byte {error.object[error.start]:#04x} at {error.start} ({error.reason}); "
            f'if it is Windows-1252, begin it with <?xml version="1.0" encoding="windows-1252"?>'
        ) from error
    match = _DECLARATION.match(text)
    if match is not None:
        text = text[: match.start(1)] + text[match.end(1) :]
    return text.encode("utf-8", "surrogatepass")


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
