import pytest

from graveler.aws.settings import Settings

LEAST = {
    "AWS_REGION": "eu-west-1",
    "GRAVELER_REFS_TABLE": "refs",
    "GRAVELER_STAGING_TABLE": "staging",
}


def test_what_is_not_named_has_its_default() -> None:
    assert Settings.from_environment(LEAST) == Settings(
        region="eu-west-1", refs_table="refs", staging_table="staging"
    )


def test_every_setting_can_be_named() -> None:
    settings = Settings.from_environment(
        LEAST
        | {
            "GRAVELER_S3_ENDPOINT": "http://127.0.0.1:8001",
            "GRAVELER_RANGE_RAGGEDNESS_RECORDS": "100",
            "GRAVELER_SETUP_TOKEN": "123",
            "GRAVELER_EXPORT_PREFIXES": "s3://one/a/, s3://two/,",
            "GRAVELER_EXPORT_JOB_OBJECTS_MIN": "7",
            "GRAVELER_REGION": "elsewhere",
            "GRAVELER_OF_ANOTHER_MODULE": "x",
            "REFS_TABLE": "other",
        }
    )
    assert settings.s3_endpoint == "http://127.0.0.1:8001"
    assert settings.range_raggedness_records == 100
    assert settings.setup_token == "123"
    assert settings.export_prefixes == ("s3://one/a/", "s3://two/")
    assert settings.export_job_objects_min == 7
    assert settings.region == "eu-west-1"
    assert settings.refs_table == "refs"


@pytest.mark.parametrize("name", sorted(LEAST))
def test_what_has_no_default_must_be_set(name: str) -> None:
    environment = {other: value for other, value in LEAST.items() if other != name}
    with pytest.raises(ValueError, match=name):
        Settings.from_environment(environment)


def test_a_number_must_be_one() -> None:
    with pytest.raises(ValueError, match="many"):
        Settings.from_environment(LEAST | {"GRAVELER_RANGE_BYTES_MAX": "many"})


def test_no_prefixes_are_none() -> None:
    assert Settings.from_environment(LEAST | {"GRAVELER_EXPORT_PREFIXES": ""}).export_prefixes == ()


def test_a_switch_is_on_when_it_says_true() -> None:
    for text, expected in (("true", True), ("True", True), ("false", False), ("", False)):
        assert (
            Settings.from_environment(LEAST | {"GRAVELER_IGNORE_ACTIONS": text}).ignore_actions
            is expected
        )
