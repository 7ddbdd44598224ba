"""`lakefs.object.ObjectWriter`: an object that is written when it is closed."""

import io

import pytest
from lakefs.exceptions import ObjectExistsException

pytestmark = pytest.mark.server

MODES = pytest.mark.parametrize("pre_sign", [False, True], ids=["by the API", "by presigned URL"])


@MODES
def test_what_is_written_is_there_when_it_is_closed(main, pre_sign):
    with main.object("a").writer("w", pre_sign=pre_sign) as writer:
        assert writer.write("one ") == 4
        writer.flush()
        assert writer.write("two") == 3
        assert not main.object("a").exists()
    assert main.object("a").reader("r").read() == "one two"


@MODES
def test_it_copies_a_local_file_as_the_documentation_shows(main, tmp_path, pre_sign):
    file = tmp_path / "image"
    file.write_bytes(bytes(range(256)) * 40_000)
    with file.open("rb") as reader, main.object("image").writer("wb", pre_sign=pre_sign) as writer:
        writer.write(reader.read(4_000_000))
    assert main.object("image").reader().read() == file.read_bytes()[:4_000_000]


@MODES
def test_it_stores_type_and_metadata(main, pre_sign):
    writer = main.object("a").writer(
        "w", pre_sign=pre_sign, content_type="text/csv", metadata={"k": "v"}
    )
    writer.write("1,2")
    writer.close()
    stat = main.object("a").stat()
    assert (stat.content_type, stat.metadata) == ("text/csv", {"k": "v"})


@MODES
def test_a_discarded_writer_writes_nothing(main, pre_sign):
    main.object("a").upload("before")
    writer = main.object("a").writer("w", pre_sign=pre_sign)
    writer.write("after")
    writer.discard()
    assert writer.closed
    assert main.object("a").reader("r").read() == "before"


@MODES
def test_an_exclusive_writer_overwrites_nothing(main, pre_sign):
    writer = main.object("a").writer("x", pre_sign=pre_sign)
    writer.write("late")
    main.object("a").upload("early")
    with pytest.raises(ObjectExistsException):
        writer.close()
    with pytest.raises(ObjectExistsException):
        main.object("a").writer("xb", pre_sign=pre_sign)
    assert main.object("a").reader("r").read() == "early"


def test_it_says_what_it_can_do(main):
    writer = main.object("a").writer("wb", pre_sign=True)
    assert (writer.mode, writer.name, writer.pre_sign) == ("wb", "a", True)
    assert (writer.readable(), writer.seekable(), writer.writable()) == (False, False, True)
    assert not writer.isatty()
    assert writer.tell() == 0
    writer.pre_sign = False
    writer.write(b"x")
    writer.close()
    assert writer.closed
    assert "a" in repr(writer)
    with pytest.raises(ValueError, match="closed file"):
        writer.write(b"y")


def test_what_it_cannot_do_it_refuses(main):
    writer = main.object("a").writer("wb")
    with pytest.raises(io.UnsupportedOperation):
        writer.seek(0)
    with pytest.raises(io.UnsupportedOperation):
        writer.read()
    with pytest.raises(ValueError, match="invalid write mode"):
        main.object("a").writer("r")
    writer.discard()
