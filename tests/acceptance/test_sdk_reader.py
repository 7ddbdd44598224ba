"""`lakefs.object.ObjectReader`: an object as an open file."""

import csv
import io
import os

import pytest

pytestmark = pytest.mark.server

TEXT = "first é\nsecond\n\nlast"
MODES = pytest.mark.parametrize("pre_sign", [False, True], ids=["by the API", "by presigned URL"])


@pytest.fixture
def stored(main):
    return main.object("folder/text").upload(TEXT)


@MODES
def test_it_reads_whole_or_in_pieces(stored, pre_sign):
    with stored.reader("r", pre_sign=pre_sign) as reader:
        assert reader.read(5) == "first"
        assert reader.tell() == 5
        assert reader.read() == TEXT[5:]
        assert reader.read() == ""
    with stored.reader(pre_sign=pre_sign) as reader:
        assert reader.read() == TEXT.encode()


@MODES
def test_it_seeks_as_the_documentation_shows(main, pre_sign):
    stored = main.object("numbers").upload("0123456789" * 4)
    size, pieces = stored.stat().size_bytes, []
    with stored.reader(mode="r", pre_sign=pre_sign) as reader:
        while reader.tell() < size:
            pieces.append(reader.read(10))
            reader.seek(10, os.SEEK_CUR)
        assert pieces == ["0123456789"] * 2
        assert reader.seek(35) == 35
        assert reader.read() == "56789"
        assert reader.seek(-3, os.SEEK_END) == 37
        assert reader.read() == "789"
        with pytest.raises(OSError, match="non-negative"):
            reader.seek(-1)
        with pytest.raises(io.UnsupportedOperation):
            reader.seek(0, 9)


@MODES
def test_it_reads_lines(stored, pre_sign):
    with stored.reader("r", pre_sign=pre_sign) as reader:
        assert reader.readline() == "first é\n"
        assert reader.readline(3) == "sec"
    assert list(stored.reader("rb", pre_sign=pre_sign)) == TEXT.encode().splitlines(keepends=True)


def test_it_is_what_other_libraries_read(main):
    stored = main.object("a.csv").upload("name,number\na,1\nb,2\n")
    rows = list(csv.DictReader(stored.reader("r")))
    assert rows == [{"name": "a", "number": "1"}, {"name": "b", "number": "2"}]


def test_it_says_what_it_can_do(stored):
    reader = stored.reader("rb", pre_sign=True)
    assert (reader.mode, reader.name, reader.pre_sign) == ("rb", stored.path, True)
    assert (reader.readable(), reader.seekable(), reader.writable()) == (True, True, False)
    assert not reader.isatty()
    assert not reader.closed
    reader.pre_sign = False
    assert reader.read(5) == b"first"
    reader.flush()
    reader.close()
    assert reader.closed
    with pytest.raises(ValueError, match="closed file"):
        reader.read()
    with pytest.raises(ValueError, match="closed file"):
        reader.seek(0)


def test_what_it_cannot_do_it_refuses(stored):
    reader = stored.reader()
    with pytest.raises(io.UnsupportedOperation):
        reader.write(b"x")
    with pytest.raises(io.UnsupportedOperation):
        reader.writelines([b"x"])
    with pytest.raises(io.UnsupportedOperation):
        reader.readlines()
    with pytest.raises(io.UnsupportedOperation):
        reader.truncate()
    with pytest.raises(io.UnsupportedOperation):
        reader.fileno()
    with pytest.raises(ValueError, match="invalid read mode"):
        stored.reader("w")
