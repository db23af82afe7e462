"""Documents are read from every format, and what can't be read is rejected with its place (L6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_text

from graph_service.errors import InputError
from loaders.items import Reject
from loaders.passages.reader import Document, Part, PassageFormat, read_documents, recognise
from loaders.source import open_source


def parts_of(
    path: Path, format_: PassageFormat | None = None, title: str | None = None
) -> list[Part]:
    with open_source(path) as source:
        return list(read_documents(source, format_ or recognise(source), {}, title=title))


def documents(parts: list[Part]) -> list[tuple[Document, str]]:
    found: list[tuple[Document, str]] = []
    text: list[str] = []
    for part in parts:
        if part.is_first:
            text = []
        text.append(part.text)
        if part.is_last:
            found.append((part.document, " ".join(" ".join(text).split())))
    return found


def rejects(parts: list[Part]) -> list[Reject]:
    return [reject for part in parts for reject in part.rejects]


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_a_text_file_is_a_document_called_by_its_name(tmp_path: Path) -> None:
    """L6: plain text and plain-text extracts; headings lose their signs, not their words."""
    path = write(tmp_path, "Douglas_Adams.txt", "\ufeffHe wrote.\r\n\n== Early  life ==\nBorn.")
    parts = parts_of(path)
    assert documents(parts) == [
        (Document("Douglas Adams", str(path)), "He wrote. Early life Born.")
    ]
    assert documents(parts_of(path, title="X"))[0][0].title == "X"


def test_json_lines(tmp_path: Path) -> None:
    """L6: our fields, WikiExtractor's and KILT's names for them; paragraphs in a list."""
    lines = [
        '{"title": " A  b ", "text": "One.", "source": "s", "entity": "wd:Q1"}',
        "",
        '{"id": "1", "url": "http://x", "title": "T", "text": "Two."}',
        '{"wikipedia_title": "K", "text": ["Three.", "Four."], '
        '"wikidata_info": {"wikidata_id": "Q2"}}',
        '{"text": ""}',
    ]
    path = write(tmp_path, "a.jsonl", "\n".join(lines))
    assert documents(parts_of(path)) == [
        (Document("A b", "s", "Q1"), "One."),
        (Document("T", "http://x"), "Two."),
        (Document("K", str(path), "Q2"), "Three. Four."),
        (Document("", str(path)), ""),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        '{"title": "a"}',
        '{"text": 1}',
        '{"text": ["a", 1]}',
        '{"text": "a", "title": 5}',
        '{"text": "a\\u0000b"}',
        '{"text": "a", "entity": "Q1\\u0000"}',
        '{"text": "a", "title": "' + "t" * 1001 + '"}',
        b'{"text": "\xff"}',
    ],
)
def test_bad_json_lines_are_rejected(tmp_path: Path, line: str | bytes) -> None:
    """L6: with file, line and byte; the lines around are read."""
    bad = line.encode() if isinstance(line, str) else line
    path = write(tmp_path, "a.jsonl", b'{"text": "One."}\n' + bad + b'\n{"text": "Two."}\n')
    parts = parts_of(path)
    assert [text for _, text in documents(parts)] == ["One.", "Two."]
    (reject,) = rejects(parts)
    check_text(reject.reason)
    assert (reject.file, reject.line, reject.offset) == (str(path), 2, 17)


EXTRACT = """<doc id="1" revid="3" url="https://x?curid=1" title="A "quoted" &amp; B">
A "quoted" & B

One &lt;b&gt;.
== H ==
A "quoted" & B
</doc>
<doc id="2" url="u" title="Second">
Two.
</doc>
"""


def test_wikiextractors_output(tmp_path: Path) -> None:
    """L6: titles with quotes, references resolved, the repeated title left out once."""
    path = write(tmp_path, "wiki_00", EXTRACT)
    assert documents(parts_of(path)) == [
        (Document('A "quoted" & B', "https://x?curid=1"), 'One <b>. H A "quoted" & B'),
        (Document("Second", "u"), "Two."),
    ]
    assert not rejects(parts_of(path))


def test_broken_extracts(tmp_path: Path) -> None:
    """L6: what is between documents, without a title or without an end is rejected once each."""
    text = (
        '<doc id="1" url="u" title="One">\nFirst.\n<doc id="2" url="u" title="Two">\nSecond.\n'
        "</doc>\nstray\n</doc>\n<doc id=3>\nlost\nlost too\n</doc>\n"
        '<doc id="4" url="u" title="Four">\nFourth.'
    )
    parts = parts_of(write(tmp_path, "wiki_00", text))
    assert [(document.title, found) for document, found in documents(parts)] == [
        ("One", "First."),
        ("Two", "Second."),
        ("Four", "Fourth."),
    ]
    assert [reject.line for reject in rejects(parts)] == [3, 6, 7, 8, 13]
    check_text([reject.reason.split(";")[0] for reject in rejects(parts)], "</doc>", "<doc id")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", "One.\nTwo.\n\nThree\n"),
        ("a.jsonl", '{"text": "One."}\n{bad\n{"text": "Two."}'),
        ("wiki_00", EXTRACT + "<doc bad>\nlost\nlost\n</doc>\n" + EXTRACT),
    ],
)
def test_reading_goes_on_behind_any_part(tmp_path: Path, name: str, data: str) -> None:
    """L6: from the position of each part the rest is read as before."""
    path = write(tmp_path, name, data)
    whole = parts_of(path)
    for place, part in enumerate(whole):
        with open_source(path) as source:
            format_ = recognise(source)
            rest = list(read_documents(source, format_, part.position, title=None))
        assert rest == whole[place + 1 :]


def test_compressed_and_damaged(tmp_path: Path) -> None:
    """L6: gzip is seen by its first bytes; one cut short gives what came and a reject."""
    import gzip

    lines = b"".join(b'{"text": "Line %d."}\n' % number for number in range(60_000))
    packed = gzip.compress(lines)
    assert len(documents(parts_of(write(tmp_path, "a.gz", packed)))) == 60_000
    parts = parts_of(write(tmp_path, "b.gz", packed[:-2000]))
    assert 1_000 < len(documents(parts)) < 60_000
    assert "ends early" in rejects(parts)[0].reason


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """L6: a picture is no document."""
    with pytest.raises(InputError, match="is no text"):
        parts_of(write(tmp_path, "a.png", b"\x89PNG\x00\x01"))
