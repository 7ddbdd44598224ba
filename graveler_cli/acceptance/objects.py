"""Steps on objects: the three ways to upload, reading, stat and listing."""

import secrets
from hashlib import md5
from urllib.parse import quote, urlsplit

from graveler_cli.acceptance.api import CheckedAnswer, CheckFailedError, expect_equal
from graveler_cli.acceptance.world import AcceptanceWorld

# S3's minimum for all parts but the last.
_PART_BYTES = 5 * 1024 * 1024

_UNUSUAL_PATH = "folder/ä b%20+?#&=.txt"
_CONTENT_TYPE = "text/csv"


def upload_by_api(world: AcceptanceWorld) -> None:
    """Upload through the API, read whole and in part, and refuse to overwrite when asked."""
    world.create_branch("uploads")
    contents = {
        "folder/a.csv": b"id,name\n1,Ada\n",
        _UNUSUAL_PATH: secrets.token_bytes(64 * 1024),
        "empty": b"",
    }
    for path, content in contents.items():
        made = world.upload("uploads", path, content)
        expect_equal("the size of an upload", made.value("size_bytes"), len(content))
        expect_equal("the path of an upload", made.value("path"), path)
    for path, content in contents.items():
        world.expect_content("uploads", path, content)
    url = f"{world.path}/refs/uploads/objects"
    whole = contents[_UNUSUAL_PATH]
    part = world.api.send("GET", url, headers={"Range": "bytes=10-99"}, path=_UNUSUAL_PATH)
    expect_equal("a range of 90 bytes", part.expect(206).content, whole[10:100])
    head = world.api.send("HEAD", url, path=_UNUSUAL_PATH).expect(200)
    expect_equal("the length of HEAD", head.headers.get("content-length"), str(len(whole)))
    target = f"{world.path}/branches/uploads/objects"
    kind = {"Content-Type": "application/octet-stream", "If-None-Match": "*"}
    world.api.send("POST", target, content=b"x", headers=kind, path="folder/a.csv").expect(412)
    world.expect_content("uploads", "folder/a.csv", contents["folder/a.csv"])
    world.api.send("DELETE", target, path="empty").expect(204)
    world.read("uploads", "empty").expect(404)


def upload_by_presigned_url(world: AcceptanceWorld) -> None:
    """Upload to a presigned URL, link the object, and read it from a presigned URL."""
    branch = world.create_branch("presigned")
    content = secrets.token_bytes(300_000)
    backing = f"{branch}/staging/backing"
    place = world.api.send("GET", backing, path="big.bin", presign="true").expect(200)
    presigned = urlsplit(place.text("presigned_url"))
    if presigned.path.startswith(f"/{urlsplit(world.folder).netloc}/"):
        world.store = f"{presigned.scheme}://{presigned.netloc}"
    stored = world.api.put_presigned(presigned.geturl(), content, _CONTENT_TYPE)
    stored.expect(200)
    body = {
        "staging": place.value(),
        "checksum": _etag(stored),
        "size_bytes": len(content),
        "content_type": _CONTENT_TYPE,
        "user_metadata": {"color": "green"},
    }
    linked = world.api.send("PUT", backing, body, path="big.bin").expect(200)
    expect_equal("the size of the linked object", linked.value("size_bytes"), len(content))
    world.expect_content("presigned", "big.bin", content)
    url = f"{world.path}/refs/presigned/objects/stat"
    found = world.api.send("GET", url, path="big.bin", presign="true").expect(200)
    expect_equal("the user metadata", found.value("metadata"), {"color": "green"})
    expect_equal("the content type", found.value("content_type"), _CONTENT_TYPE)
    read = world.api.get_presigned(found.text("physical_address")).expect(200)
    expect_equal("the bytes at the presigned URL", _digest(read.content), _digest(content))


def upload_in_parts(world: AcceptanceWorld) -> None:
    """Upload in parts to presigned URLs, and abort another upload."""
    branch = world.create_branch("parts")
    content = secrets.token_bytes(_PART_BYTES + 100_000)
    started = world.api.send("POST", f"{branch}/staging/pmpu", path="large.bin", parts="2")
    started.expect(201)
    urls = started.value("presigned_urls")
    if not isinstance(urls, list) or len(urls) != 2:
        raise CheckFailedError(f"{started.request}: two presigned URLs were asked for: {urls!r}")
    pieces = (content[:_PART_BYTES], content[_PART_BYTES:])
    parts = []
    for number, (url, piece) in enumerate(zip(urls, pieces, strict=True), start=1):
        stored = world.api.put_presigned(str(url), piece).expect(200)
        parts.append({"part_number": number, "etag": _etag(stored)})
    address = started.text("physical_address")
    upload = f"{branch}/staging/pmpu/{quote(started.text('upload_id'), safe='')}"
    body = {"physical_address": address, "parts": parts, "content_type": _CONTENT_TYPE}
    done = world.api.send("PUT", upload, body, path="large.bin").expect(200)
    expect_equal("the size of the upload", done.value("size_bytes"), len(content))
    read = world.read("parts", "large.bin").expect(200)  # too large for an answer: a redirect
    expect_equal("the content of the upload", _digest(read.content), _digest(content))

    other = world.api.send("POST", f"{branch}/staging/pmpu", path="not.bin", parts="1")
    upload = f"{branch}/staging/pmpu/{quote(other.expect(201).text('upload_id'), safe='')}"
    place = {"physical_address": other.text("physical_address")}
    world.api.send("DELETE", upload, place, path="not.bin").expect(204)
    world.read("parts", "not.bin").expect(404)


def stat_and_list(world: AcceptanceWorld) -> None:
    """List by page, by prefix and by folder; compare size, checksum and time."""
    branch = world.create_branch("listing")
    contents = {f"in/{number}.txt": str(number).encode() * number for number in range(1, 6)}
    contents |= {"in/deep/x": b"x", "out": b"y"}
    for path, content in contents.items():
        world.upload("listing", path, content, **{"x-lakefs-meta-owner": "acceptance"})
    url = f"{world.path}/refs/listing/objects"
    stat = world.api.send("GET", f"{url}/stat", path="in/3.txt").expect(200)
    expect_equal("the checksum", stat.value("checksum"), _digest(b"333"))
    expect_equal("the metadata", stat.value("metadata"), {"owner": "acceptance"})
    expect_equal("the type", stat.value("path_type"), "object")
    if not stat.text("physical_address").startswith(world.namespace):
        raise CheckFailedError(f"the object's address is not below {world.namespace}")

    found: list[object] = []
    after = ""
    while True:
        page = world.api.send("GET", f"{url}/ls", prefix="in/", after=after, amount="2")
        found += page.expect(200).each("path")
        if not page.value("pagination", "has_more"):
            break
        after = page.text("pagination", "next_offset")
    expect_equal("the listing in pages", found, sorted(p for p in contents if p[:3] == "in/"))
    folders = world.api.send("GET", f"{url}/ls", delimiter="/").expect(200)
    expect_equal("the listing of folders", folders.each("path"), ["README.md", "in/", "out"])
    types = ["object", "common_prefix", "object"]
    expect_equal("their types", folders.each("path_type"), types)

    paths = {"paths": ["in/1.txt", "in/2.txt"]}
    world.api.send("POST", f"{branch}/objects/delete", paths).expect(200)
    left = world.api.send("GET", f"{url}/ls", prefix="in/").expect(200).each("path")
    expect_equal("what a deletion leaves", left, ["in/3.txt", "in/4.txt", "in/5.txt", "in/deep/x"])
    source = {"src_path": "in/3.txt"}
    world.api.send("POST", f"{branch}/objects/copy", source, dest_path="copy").expect(201)
    world.expect_content("listing", "copy", b"333")


def _etag(answer: CheckedAnswer) -> str:
    found = answer.headers.get("etag", "").strip('"')
    if not found:
        raise CheckFailedError(f"{answer.request}: the answer has no ETag")
    return found


def _digest(content: bytes) -> str:
    """Return the MD5, as the API's checksums are; long contents are compared by it, too."""
    return md5(content, usedforsecurity=False).hexdigest()
