"""The arguments of jobs, `--name value`: options of the job and settings of the deployment."""

from collections.abc import Sequence
from dataclasses import fields

from graveler.aws.settings import Settings
from graveler.errors import InvalidInputError

# The prefixes of the arguments that Glue itself adds: those in "AWS Glue job parameters", and the
# names of job and run.
_OF_GLUE = (
    *("additional-", "auto-", "class", "conf", "continuous-", "custom-", "customer-", "datalake-"),
    *("disable-", "enable-", "encryption-", "executor-", "extra-", "job-", "job_", "python-"),
    *("script", "security_configuration", "spark-", "tempdir", "use-", "user-", "write-"),
)


def settings_in(words: Sequence[str]) -> dict[str, str]:
    """Return the settings among the arguments that are not options; Glue's own are ignored.

    Raises:
        InvalidInputError: an argument is unknown: a misspelled switch must not do harm.
    """
    known = {field.name for field in fields(Settings)}
    settings: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name.lower().startswith(_OF_GLUE):
                name = ""
                continue
            name = name.replace("-", "_")
            if name not in known:
                raise InvalidInputError(f"argument {word!r} is not known")
            if equals:
                settings[name] = value
        elif name:
            settings[name] = word
            name = ""
    return settings
