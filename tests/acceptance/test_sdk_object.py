"""`lakefs.StoredObject` and `lakefs.WriteableObject`."""

import pytest
from lakefs.exceptions import NotFoundException, ObjectExistsException, ObjectNotFoundException

pytestmark = pytest.mark.server

MODES = pytest.mark.parametrize("pre_sign", [False, True], ids=["by the API", "by presigned URL"])


def test_it_shows_its_repository_reference_and_path(repository, main):
    found = main.object("folder/é b")
    assert (found.repo, found.ref, found.path) == (repository.id, "main", "folder/é b")
    assert str(found) == "folder/é b"
    assert "folder/é b" in repr(found)
    assert found.storage_id() == ""


@MODES
@pytest.mark.parametrize("data", ["text é", b"\x00\xff bytes", ""])
def test_what_is_uploaded_is_read(main, pre_sign, data):
    main.object("a").upload(data, pre_sign=pre_sign)
    content = data.encode() if isinstance(data, str) else data
    assert main.object("a").reader(pre_sign=pre_sign).read() == content
    assert main.object("a").stat().size_bytes == len(content)


@MODES
def test_its_stats_have_type_metadata_and_checksum(main, pre_sign):
    uploaded = main.object("a.json").upload(
        "{}", pre_sign=pre_sign, content_type="application/json", metadata={"k": "v"}
    )
    stat = uploaded.stat()
    assert (stat.path, stat.size_bytes, stat.content_type) == ("a.json", 2, "application/json")
    assert (stat.metadata, stat.mtime > 0) == ({"k": "v"}, True)
    assert stat.checksum
    assert stat.physical_address.startswith("s3://")
    assert main.object("a.json").stat(user_metadata=False).metadata == {}


def test_a_presigned_stat_can_be_downloaded(main):
    main.object("a").upload("content")
    stat = main.object("a").stat(pre_sign=True)
    assert stat.physical_address.startswith("http")
    assert stat.physical_address_expiry > stat.mtime


def test_it_exists_or_not(repository, main):
    assert not main.object("a").exists()
    main.object("a").upload("1")
    assert main.object("a").exists()
    assert not repository.ref("main@").object("a").exists()
    assert not repository.ref("nothing").object("a").exists()


def test_a_copy_of_an_older_commit_goes_to_any_branch(repository, main):
    main.object("a").upload("1", content_type="text/csv", metadata={"k": "v"})
    first = main.commit("first")
    main.object("a").upload("2")
    repository.branch("dev").create(main)
    copied = first.object("a").copy("dev", "folder/b")
    assert (copied.ref, copied.path) == ("dev", "folder/b")
    assert copied.reader("r").read() == "1"
    assert (copied.stat().content_type, copied.stat().metadata) == ("text/csv", {"k": "v"})
    with pytest.raises(NotFoundException):
        first.object("nothing").copy("dev", "c")
    with pytest.raises(NotFoundException):
        first.object("a").copy("nothing", "c")


@MODES
def test_an_exclusive_upload_needs_a_free_path(main, pre_sign):
    main.object("a").upload("1", mode="x", pre_sign=pre_sign)
    with pytest.raises(ObjectExistsException):
        main.object("a").upload("2", mode="xb", pre_sign=pre_sign)
    assert main.object("a").reader("r").read() == "1"


def test_it_is_written_like_a_file(main):
    with main.object("a").writer("w") as writer:
        writer.write("1")
    assert main.object("a").reader("r").read() == "1"


def test_it_is_deleted(main):
    main.object("a").upload("1")
    main.object("a").delete()
    assert not main.object("a").exists()
    main.object("a").delete()  # nothing to delete is no error


def test_what_does_not_exist_is_not_found(main):
    with pytest.raises(ObjectNotFoundException):
        main.object("nothing").stat()
    with pytest.raises(ObjectNotFoundException):
        main.object("nothing").reader(pre_sign=False).read()
    with pytest.raises(FileNotFoundError):
        main.object("nothing").reader(pre_sign=True).read()
