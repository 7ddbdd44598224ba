"""S3's names of user metadata, and those of lakeFS's gateway in entries."""

from graveler.user_metadata import s3_metadata, stored_metadata


def test_metadata_of_s3_are_stored_as_lakefs_stores_them_and_read_back():
    sent = {"colour": "red", "x-amz-meta-colour": "blue", "empty": ""}
    stored = stored_metadata(sent)
    assert stored["X-Amz-Meta-colour"] == "red"
    assert s3_metadata(stored) == sent


def test_metadata_of_the_api_and_of_older_gateways_have_the_same_names():
    stored = {"Colour": "red", "x-amz-meta-Size": "2", "::lakefs::client-mtime": "3"}
    expected = {"colour": "red", "size": "2", "::lakefs::client-mtime": "3"}
    assert s3_metadata(stored) == expected


def test_of_two_names_the_one_that_lakefs_shows_wins():
    stored = {"zeta": "0", "colour": "1", "Colour": "2", "x-amz-meta-colour": "3"}
    for text, name in (("3", "x-amz-meta-colour"), ("1", "colour"), ("2", "Colour")):
        assert s3_metadata(stored) == {"zeta": "0", "colour": text}
        assert s3_metadata({**stored, "X-Amz-Meta-colour": "4"})["colour"] == "4"
        del stored[name]
