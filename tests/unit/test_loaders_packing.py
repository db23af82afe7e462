"""Packed sources: every stream of a file, padding between them, and archives refused by name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from error_texts import check_line, raises

from graph_service.errors import InputError, SetupError
from graph_service.store.protocol import Store
from loaders.formats import Format, recognise
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import EXIT_REJECTS
from loaders.source import line_blocks, open_source

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
FIRST = b"".join(b"<http://a/%d> <http://a/p> <http://a/o> .\n" % index for index in range(10))
LATER = FIRST.replace(b"/o>", b"/later>")


def rows_and_problems(path: Path) -> tuple[bytes, list[str]]:
    with open_source(path) as source:
        blocks = list(line_blocks(source))
    return b"".join(block.data for block in blocks), [b.problem for b in blocks if b.problem]


@pytest.fixture(params=COMPRESS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("between", [b"", b"\0" * 8, b"\0"])
def test_all_streams_are_read_with_padding_between_and_after(
    tmp_path: Path, kind: str, between: bytes
) -> None:
    path = tmp_path / "data"
    path.write_bytes(COMPRESS[kind](FIRST) + between + COMPRESS[kind](LATER) + between)
    assert rows_and_problems(path) == (FIRST + LATER, [])


@pytest.mark.parametrize("after", [b"\n", b"a web page", b"\0\0x"])
def test_what_follows_a_stream_and_is_none_is_an_error(
    tmp_path: Path, kind: str, after: bytes
) -> None:
    path = tmp_path / "data"
    path.write_bytes(COMPRESS[kind](FIRST) + after + COMPRESS[kind](LATER))
    rows, [problem] = rows_and_problems(path)
    assert rows == FIRST
    check_line(problem, "ends early after")


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_wrong_bit_in_the_header_of_a_later_stream_is_an_error(
    tmp_path: Path, kind: str, at: int
) -> None:
    later = bytearray(COMPRESS[kind](LATER))
    later[at] ^= 1 << 6
    path = tmp_path / "data"
    path.write_bytes(COMPRESS[kind](FIRST) + later)
    rows, problems = rows_and_problems(path)
    if kind == "gz" and at == 3:
        # A flag of gzip's header that means nothing.
        assert (rows, problems) == (FIRST + LATER, [])
        return
    assert rows.startswith(FIRST)
    assert len(problems) == 1


def test_a_later_stream_that_ends_early_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data"
    for cut in (1, 5, 20):
        path.write_bytes(COMPRESS[kind](FIRST) + COMPRESS[kind](LATER)[:-cut])
        rows, problems = rows_and_problems(path)
        assert rows.startswith(FIRST)
        assert len(problems) == 1


def test_a_large_stream_comes_in_the_sizes_that_are_requested(tmp_path: Path, kind: str) -> None:
    data = b"".join(b"line %d\n" % (index * 7919) for index in range(200_000))
    path = tmp_path / "data"
    path.write_bytes(COMPRESS[kind](data[:1_000_000]) + COMPRESS[kind](data[1_000_000:]))
    with open_source(path) as source:
        pieces = []
        while piece := source.read(1000):
            assert len(piece) <= 1000
            pieces.append(piece)
    assert b"".join(pieces) == data


def test_frames_of_zstd_without_data_are_passed_over(tmp_path: Path) -> None:
    frame = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    path = tmp_path / "data.nt.zst"
    path.write_bytes(frame + COMPRESS["zst"](FIRST) + frame)
    assert rows_and_problems(path) == (FIRST, [])
    assert recognise(path) is Format.NTRIPLES


def test_zstd_without_its_package_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.nt.zst"
    path.write_bytes(COMPRESS["zst"](FIRST))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(SetupError, match="zstd") as caught:
        open_source(path)
    assert "graph-service[zstd]" in str(caught.value)


def archives() -> dict[str, bytes]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.nt", FIRST)
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w") as folder:
        member = tarfile.TarInfo("a.nt")
        member.size = len(FIRST)
        folder.addfile(member, io.BytesIO(FIRST))
    return {
        "zip": packed.getvalue(),
        "tar": tarred.getvalue(),
        "7z": b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(100),
        "HDT": b"$HDT\x01<http://purl.org/HDT/hdt#HDTv1>",
        "lzma": lzma.compress(FIRST, lzma.FORMAT_ALONE),
        "Parquet": b"PAR1\x15\x04" + bytes(100),
    }


@pytest.mark.parametrize("name", archives())
def test_archives_are_refused_by_name_whatever_format_is_named(
    tmp_store: Store, tmp_path: Path, name: str
) -> None:
    data = archives()[name]
    for path in (tmp_path / "a.nt", tmp_path / "a.nt.gz"):
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        for format_ in (None, "ntriples", "csv"):
            options = LoadOptions(format=format_, rejects_path=tmp_path / "rejects")
            with raises(InputError):
                load(path, store=tmp_store, graph="g", options=options)
    assert tmp_store.graphs() == []


def test_files_of_a_folder_that_are_no_data_are_named(tmp_store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.nt").write_bytes(FIRST)
    (folder / "notes").write_text("About this data.\n")
    (folder / "README.md").write_text("About this data.\n")
    report = load(folder, store=tmp_store, graph="g")
    assert report.exit_code == 0
    assert report.unrecognised == (str(folder / "README.md"), str(folder / "notes"))
    assert f"not read: {folder / 'README.md'}, {folder / 'notes'}" in report.lines()


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("b.nt", b"<!DOCTYPE html><html><body>503</body></html>", "web page"),
        ("b.nt.zst", b"not packed at all", "not RDF"),
        ("b.nt.gz", gzip.compress(b"<html>busy</html>"), "web page"),
        ("b.csv", b"", "is empty"),
        ("b.zip", archives()["zip"], "zip archive"),
        ("b.hdt", archives()["HDT"], "HDT"),
    ],
    # Packed bytes hold the time: as ids they would differ between the workers of one run.
    ids=["web page", "zst", "packed web page", "empty", "zip", "HDT"],
)
def test_files_of_a_folder_that_are_named_as_data_and_are_none_are_rejects(
    tmp_store: Store, tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.nt").write_bytes(FIRST)
    (folder / name).write_bytes(data)
    (folder / "c.nt").write_bytes(LATER)
    options = LoadOptions(rejects_path=tmp_path / "rejects")
    report = load(folder, store=tmp_store, graph="g", options=options)
    assert (report.exit_code, report.read_statements) == (EXIT_REJECTS, 20)
    [reject] = report.rejects
    assert reject.file == str(folder / name)
    assert reason in reject.reason
    with pytest.raises(InputError, match=reason):
        load(
            folder,
            store=tmp_store,
            graph="strict",
            options=LoadOptions(rejects_path=tmp_path / "strict", strict=True),
        )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.nt", "a.csv"])
def test_text_in_utf_16_without_a_mark_is_told_with_what_converts_it(
    tmp_store: Store, tmp_path: Path, name: str, encoding: str
) -> None:
    (tmp_path / name).write_bytes(b"id,name,price".decode().encode(encoding))
    with raises(InputError) as caught:
        load(tmp_path / name, store=tmp_store, graph="g")
    assert caught.value.hint is not None
    assert (
        f"iconv -f {encoding.upper().replace('-', '').replace('UTF', 'UTF-')}" in caught.value.hint
    )


def test_what_is_packed_twice_is_told(tmp_store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(gzip.compress(FIRST)))
    with raises(InputError):
        load(tmp_path / "a.nt.gz", store=tmp_store, graph="g")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.xlsx", b"PK\x03\x04cut", "an Excel workbook"),
        ("a.xlsx", b"<html><table></table></html>", "an Excel workbook"),
        ("a.parquet", b"PAR1cut", "read as Parquet"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old format"),
        ("a.ods", b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument",
         "OpenDocument"),
    ],
)  # fmt: skip
def test_workbooks_that_are_none_are_refused_by_name(
    tmp_store: Store, tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=reason):
        load(tmp_path / name, store=tmp_store, graph="g", options=LoadOptions(row="auto"))
    if not name.endswith(".parquet"):
        with pytest.raises(InputError, match=reason):
            load(tmp_path / name, store=tmp_store, graph="g")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.rdf",
            '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://a/">'
            '<r:Description r:about="http://a/s"><p r:resource="http://a/o"/></r:Description></r:RDF>',
        ),
        (
            "a.json",
            '{\n"type":"item","id":"Q1","labels":{"en":{"language":"en","value":"A"}},"claims":{}\n}',
        ),
    ],
)
@pytest.mark.parametrize("after", [b"not a stream", b"\x1f\x8b cut"])
def test_a_document_that_is_read_whole_is_read_before_damage(
    tmp_path: Path, tmp_store: Store, name: str, text: str, after: bytes
) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(text.encode()) + after)
    options = LoadOptions(rejects_path=tmp_path / "rejects")
    report = load(path, store=tmp_store, graph="g", options=options)
    assert report.exit_code == EXIT_REJECTS
    assert report.rejected == 1
    assert report.graph is not None
    assert report.graph.counts.entities >= 1
    assert "gzip data" in (tmp_path / "rejects").read_text()
