"""Bytes that pass by the API: presigned URLs, multipart uploads, redirects; with any HTTP client."""

import gzip
import random
from hashlib import md5
from urllib.parse import parse_qs, urlsplit

import lakefs
import pytest
import requests
from lakefs.exceptions import ServerException
from lakefs_sdk import (
    AbortPresignMultipartUpload,
    ApiException,
    CompletePresignMultipartUpload,
    StagingLocation,
    StagingMetadata,
    UploadPart,
    UploadPartFrom,
)

pytestmark = pytest.mark.server

PART_BYTES = 5 * 1024 * 1024
# Three parts of a multipart upload, and more than twice what fits through the API.
LARGE = random.Random(1).randbytes(12_000_000)


def link(
    client: lakefs.Client,
    repository: lakefs.Repository,
    path: str,
    content: bytes,
    sent_headers: dict[str, str] | None = None,
    **headers: str,
) -> None:
    """Upload by presigned URL with nothing but an HTTP client, and link what was uploaded."""
    staging = client.sdk_client.staging_api
    place = staging.get_physical_address(repository.id, "main", path, presign=True)
    sent = requests.put(place.presigned_url, data=content, headers=sent_headers, timeout=300)
    assert sent.status_code == 200
    metadata = StagingMetadata(
        staging=StagingLocation(physical_address=place.physical_address),
        checksum=sent.headers["ETag"],
        size_bytes=len(content),
    )
    staging.link_physical_address(repository.id, "main", path, metadata, **headers)


def presigned_url(client: lakefs.Client, repository: lakefs.Repository, path: str) -> str:
    objects = client.sdk_client.objects_api
    return objects.stat_object(repository.id, "main", path, presign=True).physical_address


def object_url(stack, repository: lakefs.Repository, path: str) -> str:
    return f"{stack.endpoint}/api/v1/repositories/{repository.id}/refs/main/objects?path={path}"


@pytest.fixture
def key(stack) -> tuple[str, str]:
    return stack.access_key_id, stack.secret_access_key


@pytest.fixture
def upload(client, repository):
    """A multipart upload to `large`, begun for three parts."""
    return client.sdk_client.experimental_api.create_presign_multipart_upload(
        repository.id, "main", "large", parts=3
    )


def send_parts(urls: list[str]) -> list[UploadPart]:
    parts = []
    for number, url in enumerate(urls, start=1):
        content = LARGE[PART_BYTES * (number - 1) : PART_BYTES * number]
        sent = requests.put(url, data=content, timeout=300)
        assert sent.status_code == 200
        parts.append(UploadPart(part_number=number, etag=sent.headers["ETag"]))
    return parts


# Reading


def test_a_presigned_url_reads_the_object_without_credentials(client, repository, main):
    main.object("folder/a name.csv").upload("1,2,3", content_type="text/csv")
    url = presigned_url(client, repository, "folder/a name.csv")
    answer = requests.get(url, timeout=300)
    assert (answer.status_code, answer.content) == (200, b"1,2,3")
    assert "a%20name.csv" in answer.headers["Content-Disposition"].replace(" ", "%20")
    part = requests.get(url, headers={"Range": "bytes=2-2"}, timeout=300)
    assert (part.status_code, part.content) == (206, b"2")
    assert part.headers["Content-Range"] == "bytes 2-2/5"


def test_a_presigned_url_tells_when_it_ends(client, repository, main):
    main.object("a").upload("1")
    objects = client.sdk_client.objects_api
    found = objects.stat_object(repository.id, "main", "a", presign=True)
    query = parse_qs(urlsplit(found.physical_address).query)
    assert 0 < int(query["X-Amz-Expires"][0]) <= 3600
    assert found.physical_address_expiry > found.mtime


def test_every_row_of_a_listing_can_carry_its_presigned_url(main):
    for name in "abc":
        main.object(name).upload(name * 3)
    for row in main.objects(presign=True):
        assert requests.get(row.physical_address, timeout=300).text == row.path * 3


def test_a_presigned_url_is_good_for_its_object_and_its_method_only(client, repository, main):
    main.object("a").upload("1")
    main.object("b").upload("2")
    of_a, of_b = (urlsplit(presigned_url(client, repository, name)) for name in "ab")
    forged = of_a._replace(query=of_b.query).geturl()
    assert requests.get(forged, timeout=300).status_code == 403
    assert requests.put(of_a.geturl(), data=b"3", timeout=300).status_code == 403
    assert requests.delete(of_a.geturl(), timeout=300).status_code == 403
    assert main.object("a").reader("r").read() == "1"


def test_a_read_follows_the_redirect_and_leaves_the_key_behind(stack, repository, main, key):
    main.object("a").upload("redirected")
    url = object_url(stack, repository, "a") + "&presign=true"
    first = requests.get(url, auth=key, allow_redirects=False, timeout=300)
    assert (first.status_code, first.content) == (302, b"")
    assert first.headers["Location"].startswith(stack.s3_endpoint)
    followed = requests.get(url, auth=key, headers={"Range": "bytes=2-4"}, timeout=300)
    assert (followed.status_code, followed.text) == (206, "dir")
    assert "Authorization" not in followed.request.headers
    assert requests.get(url, timeout=300).status_code == 401


# Large objects


def test_an_object_too_large_for_the_api_is_read_by_redirect(stack, repository, main, key):
    main.object("large").upload(LARGE, mode="wb", pre_sign=True)
    main.commit("large")
    url = object_url(stack, repository, "large")
    whole = requests.get(url, auth=key, timeout=300)
    assert [step.status_code for step in whole.history] == [302]
    assert whole.content == LARGE
    part = requests.get(url, auth=key, headers={"Range": "bytes=7000000-7000009"}, timeout=300)
    assert (part.status_code, part.history) == (206, [])
    assert part.content == LARGE[7_000_000:7_000_010]
    head = requests.head(url, auth=key, timeout=300)
    assert (head.headers["Content-Length"], head.content) == (str(len(LARGE)), b"")
    for pre_sign in (False, True):
        assert main.object("large").reader(pre_sign=pre_sign).read() == LARGE


def test_an_upload_too_large_for_the_api_is_told_to_use_a_presigned_url(main):
    with pytest.raises(ServerException, match="presigned URL") as refused:
        main.object("large").upload(LARGE, mode="wb", pre_sign=False)
    assert refused.value.status_code == 413
    assert not main.object("large").exists()


def test_a_large_object_is_uploaded_in_parts(client, repository, main, upload):
    parts = send_parts(upload.presigned_urls)
    client.sdk_client.experimental_api.complete_presign_multipart_upload(
        repository.id,
        "main",
        upload.upload_id,
        "large",
        CompletePresignMultipartUpload(
            physical_address=upload.physical_address,
            parts=parts[::-1],
            user_metadata={"k": "v"},
            content_type="application/x-large",
        ),
    )
    found = main.object("large").stat()
    assert (found.size_bytes, found.metadata) == (len(LARGE), {"k": "v"})
    assert found.content_type == "application/x-large"
    digests = b"".join(
        md5(LARGE[start : start + PART_BYTES]).digest()
        for start in range(0, len(LARGE), PART_BYTES)
    )
    assert found.checksum == f"{md5(digests).hexdigest()}-3"
    main.commit("large")
    assert main.object("large").reader().read() == LARGE


def test_a_part_gets_a_new_url_when_its_first_one_has_ended(client, repository, main, upload):
    experimental = client.sdk_client.experimental_api
    urls = [
        experimental.upload_part(
            repository.id,
            "main",
            upload.upload_id,
            "large",
            number,
            UploadPartFrom(physical_address=upload.physical_address),
        ).presigned_url
        for number in (1, 2, 3)
    ]
    experimental.complete_presign_multipart_upload(
        repository.id,
        "main",
        upload.upload_id,
        "large",
        CompletePresignMultipartUpload(
            physical_address=upload.physical_address, parts=send_parts(urls)
        ),
    )
    assert main.object("large").reader().read() == LARGE


def test_an_upload_given_up_leaves_no_object(client, repository, main, upload):
    experimental = client.sdk_client.experimental_api
    parts = send_parts(upload.presigned_urls[:1])
    address = AbortPresignMultipartUpload(physical_address=upload.physical_address)
    experimental.abort_presign_multipart_upload(
        repository.id, "main", upload.upload_id, "large", address
    )
    with pytest.raises(ApiException) as refused:
        experimental.complete_presign_multipart_upload(
            repository.id,
            "main",
            upload.upload_id,
            "large",
            CompletePresignMultipartUpload(physical_address=upload.physical_address, parts=parts),
        )
    assert refused.value.status == 404
    assert not main.object("large").exists()


def test_an_upload_with_wrong_parts_makes_no_object(client, repository, main, upload):
    send_parts(upload.presigned_urls[:1])
    for parts in ([], [UploadPart(part_number=1, etag="wrong")]):
        with pytest.raises(ApiException) as refused:
            client.sdk_client.experimental_api.complete_presign_multipart_upload(
                repository.id,
                "main",
                upload.upload_id,
                "large",
                CompletePresignMultipartUpload(
                    physical_address=upload.physical_address, parts=parts
                ),
            )
        assert refused.value.status == 400
    assert not main.object("large").exists()


# Linking


def test_bytes_put_by_any_client_become_an_object_when_linked(client, repository, main):
    link(client, repository, "a", b"by hand")
    assert main.object("a").reader().read() == b"by hand"
    assert main.object("a").stat().checksum == md5(b"by hand").hexdigest()
    main.commit("linked")
    assert main.object("a").reader().read() == b"by hand"


def test_a_url_keeps_what_the_client_says_of_the_content(client, repository, main, stack, key):
    kept = {"Content-Language": "de", "Cache-Control": "max-age=60"}
    content = gzip.compress(b"by hand")
    link(client, repository, "a", content, {**kept, "Content-Encoding": "gzip"})
    by_url = requests.get(presigned_url(client, repository, "a"), timeout=300)
    assert by_url.content == content
    assert kept.items() <= by_url.headers.items()
    by_api = requests.get(object_url(stack, repository, "a"), auth=key, timeout=300)
    assert by_api.content == content
    assert by_api.headers["Content-Language"] == "de"
    assert by_api.headers["Cache-Control"] == "no-store, must-revalidate"


def test_a_gzipped_object_is_read_as_it_is_stored_whole_and_in_pieces(client, repository, main):
    content = gzip.compress(b"by hand")
    link(client, repository, "a", content, {"Content-Encoding": "gzip"})
    for pre_sign in (False, True):
        with main.object("a").reader(mode="rb", pre_sign=pre_sign) as reader:
            assert reader.read(9) + reader.read(9) + reader.read() == content
        assert main.object("a").reader(mode="rb", pre_sign=pre_sign).read() == content


def test_an_address_links_to_the_path_it_was_made_for(client, repository, main):
    staging = client.sdk_client.staging_api
    place = staging.get_physical_address(repository.id, "main", "a", presign=True)
    requests.put(place.presigned_url, data=b"1", timeout=300)
    address = place.physical_address
    for path, physical_address in (("b", address), ("a", f"{address}x"), ("a", address[:-9])):
        metadata = StagingMetadata(
            staging=StagingLocation(physical_address=physical_address), checksum="c", size_bytes=1
        )
        with pytest.raises(ApiException) as refused:
            staging.link_physical_address(repository.id, "main", path, metadata)
        assert refused.value.status == 400
    assert list(main.objects()) == []


def test_linking_can_refuse_to_overwrite(client, repository, main):
    link(client, repository, "a", b"first", if_none_match="*")
    with pytest.raises(ApiException) as refused:
        link(client, repository, "a", b"second", if_none_match="*")
    assert refused.value.status == 412
    assert main.object("a").reader().read() == b"first"
    link(client, repository, "a", b"third")
    assert main.object("a").reader().read() == b"third"
