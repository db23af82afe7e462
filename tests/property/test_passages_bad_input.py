"""Whatever bytes a source of passages or page views holds, it is read or rejected, never a crash."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_service.errors import InputError
from loaders.pageviews.file import read_view_rows
from loaders.passages.cut import Cutter
from loaders.passages.reader import PassageFormat, read_documents, recognise
from loaders.source import ByteSource, SourceLimits

PIECES = st.sampled_from(
    [b'{"text": "a"}', b'{"text": ["a", "b"], "title": "t"}', b'{"text":', b"{}", b"[]", b"null",
     b'<doc id="1" url="u" title="T">', b"<doc", b"<doc >", b"</doc>", b"T", b"== H ==", b"==", b"a.",
     b"\xff", b"\x00", b"\xef\xbb\xbf", b"&#0;", b"&#xD800;", b"&amp;", b"\t", b"Q1\t2021-01\t5",
     b"Q1\t2021-01\t\xd9\xa3", b"a\tb\tc", b"Q1\t202113\t1", b"Q1\t2021-01\t" + b"9" * 5000,
     b'{"text": "\\ud800"}', b'{"text": "a", "entity": ""}', b'{"text": "a", "wikidata_info": 1}']
)  # fmt: skip
SOURCES = st.lists(
    st.tuples(
        st.one_of(PIECES, st.binary(max_size=8)), st.sampled_from([b"\n", b"\r\n", b"", b" "])
    ),
    max_size=25,
).map(lambda pairs: b"".join(piece + end for piece, end in pairs))


def source_of(data: bytes) -> ByteSource:
    limits = SourceLimits(max_line_bytes=70_000)
    return ByteSource(io.BytesIO(data), name="x", total_bytes=len(data), limits=limits, close=False)


@pytest.mark.parametrize("format_", PassageFormat)
@given(data=SOURCES)
@example(data=b"")
@example(data=b"a" * 200_000 + b"\nb")
@example(data=b'<doc id="1" url="u" title="T">\n')
@example(data=b'<doc id="1" url="u" title="T">\n' * 4)
def test_documents(format_: PassageFormat, data: bytes) -> None:
    """L6: each part's text can be cut, each document that begins ends, places ascend; and reading
    goes on behind any part as it would have.
    """
    parts = list(read_documents(source_of(data), format_, {}, title=None))
    open_documents = 0
    for part in parts:
        open_documents += part.is_first
        assert open_documents in (0, 1)
        assert open_documents or not part.text
        open_documents -= part.is_last
        assert all(reject.reason for reject in part.rejects)
        Cutter().add(part.text)
    assert open_documents == 0
    offsets = [part.position.get("offset", 0) for part in parts]
    assert offsets == sorted(offsets)
    for place in range(len(parts)):
        rest = list(read_documents(source_of(data), format_, parts[place].position, title=None))
        assert rest == parts[place + 1 :]


@given(SOURCES)
def test_recognising(data: bytes) -> None:
    """L6: a format or a clear refusal."""
    with contextlib.suppress(InputError):
        assert recognise(source_of(data)) in PassageFormat


@given(SOURCES)
def test_tables_of_views(data: bytes) -> None:
    """L1: every line that says something is a row, a header or a reject."""
    rows = read_view_rows(source_of(data))
    assert rows.views.shape == (len(rows.names), len(rows.months))
    assert (rows.views >= 0).all()
    lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    assert len(rows.rejects) <= len(lines) + 1
