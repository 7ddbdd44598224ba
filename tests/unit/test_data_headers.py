"""Headers that are kept with data: what S3 can keep, and what it cannot."""

import pytest

from graveler.data_headers import encryption_of, kept_in_store, kept_of, of_read, of_write
from graveler.errors import InvalidInputError

KMS = {"x-amz-server-side-encryption": "aws:kms"}


def test_empty_headers_and_those_of_others_are_none() -> None:
    headers = {"expires": "", "cache-control": " ", "content-language": " de ", "x-other": "a"}
    assert kept_of(headers) == {"content-language": "de"}
    assert encryption_of({"x-amz-server-side-encryption": ""}) == {}


def test_text_that_no_request_can_carry_is_refused_with_the_remedy() -> None:
    for value in ('attachment; filename="\xe9"', "a\r\nx-amz-acl: public-read", "a\0"):
        with pytest.raises(InvalidInputError, match=r"content-disposition .* filename\*=UTF-8"):
            kept_of({"content-disposition": value})


def test_a_copy_leaves_out_what_no_request_can_carry() -> None:
    stored = {"content-disposition": "\xe9", "expires": "0", "etag": "e", **KMS}
    assert kept_in_store(stored) == {"expires": "0"}


def test_answers_with_documents_have_no_header_of_the_content() -> None:
    answered = {"content-encoding": "gzip", "etag": "e", **KMS}
    assert of_write(answered) == KMS
    assert of_read(answered) == {"content-encoding": "gzip", **KMS}
