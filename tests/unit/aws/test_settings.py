import os.path
from dataclasses import dataclass
from enum import StrEnum

import pytest

from graveler.aws.environment import FromEnvironment, import_function
from graveler.aws.settings import DeploymentSettings

LEAST = {
    "AWS_REGION": "eu-west-1",
    "GRAVELER_REFS_TABLE": "refs",
    "GRAVELER_STAGING_TABLE": "staging",
}


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Chosen(FromEnvironment):
    size: Size = Size.SMALL


def test_an_unset_variable_has_its_default() -> None:
    assert DeploymentSettings.from_environment(LEAST) == DeploymentSettings(
        region="eu-west-1", refs_table="refs", staging_table="staging"
    )


def test_every_setting_can_be_named() -> None:
    settings = DeploymentSettings.from_environment(
        LEAST
        | {
            "GRAVELER_S3_ENDPOINT": "http://127.0.0.1:8001",
            "GRAVELER_RANGE_RAGGEDNESS_RECORDS": "100",
            "GRAVELER_EXPORT_PREFIXES": "s3://one/a/, s3://two/,",
            "GRAVELER_IMPORT_PREFIXES": "s3://three/",
            "GRAVELER_EXPORT_JOB_OBJECTS_MIN": "7",
            "GRAVELER_REGION": "elsewhere",
            "GRAVELER_OF_ANOTHER_MODULE": "x",
            "REFS_TABLE": "other",
        }
    )
    assert settings.s3_endpoint == "http://127.0.0.1:8001"
    assert settings.range_raggedness_records == 100
    assert settings.export_prefixes == ("s3://one/a/", "s3://two/")
    assert settings.import_prefixes == ("s3://three/",)
    assert settings.export_job_objects_min == 7
    assert settings.region == "eu-west-1"
    assert settings.refs_table == "refs"


@pytest.mark.parametrize("name", sorted(LEAST))
def test_a_variable_without_a_default_must_be_set(name: str) -> None:
    environment = {other: value for other, value in LEAST.items() if other != name}
    with pytest.raises(ValueError, match=name):
        DeploymentSettings.from_environment(environment)


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "²"])
def test_a_text_that_is_no_number_is_refused_by_the_variables_name(text: str) -> None:
    with pytest.raises(ValueError, match=f"GRAVELER_RANGE_BYTES_MAX is '{text}'"):
        DeploymentSettings.from_environment(LEAST | {"GRAVELER_RANGE_BYTES_MAX": text})


def test_an_unknown_choice_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="GRAVELER_SIZE is 'huge': set it to one of small, large"):
        Chosen.from_environment({"GRAVELER_SIZE": "huge"})
    assert Chosen.from_environment({"GRAVELER_SIZE": "large"}).size is Size.LARGE


def test_an_empty_variable_is_an_unset_one() -> None:
    empty = {"GRAVELER_S3_ENDPOINT": "", "GRAVELER_RANGE_BYTES_MAX": "", "AWS_REGION": ""}
    environment = LEAST | empty | {"AWS_DEFAULT_REGION": "eu-west-1"}
    assert DeploymentSettings.from_environment(environment) == DeploymentSettings.from_environment(
        LEAST
    )


@pytest.mark.parametrize("setting", ["os.path", "os:", ":join", "os.path:nothing"])
def test_a_setting_that_names_no_function_is_refused(setting: str) -> None:
    with pytest.raises((ValueError, AttributeError)):
        import_function(setting)
    assert import_function("os.path:join") is os.path.join


def test_no_prefixes_are_none() -> None:
    assert (
        DeploymentSettings.from_environment(
            LEAST | {"GRAVELER_EXPORT_PREFIXES": ""}
        ).export_prefixes
        == ()
    )


@pytest.mark.parametrize("text", ["yes", "1", " true"])
def test_a_switch_is_true_or_false(text: str) -> None:
    with pytest.raises(ValueError, match=f"GRAVELER_IGNORE_ACTIONS is '{text}'"):
        DeploymentSettings.from_environment(LEAST | {"GRAVELER_IGNORE_ACTIONS": text})


def test_a_switch_is_on_when_it_says_true() -> None:
    for text, expected in (("true", True), ("True", True), ("false", False), ("", False)):
        assert (
            DeploymentSettings.from_environment(
                LEAST | {"GRAVELER_IGNORE_ACTIONS": text}
            ).ignore_actions
            is expected
        )
