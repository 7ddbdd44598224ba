"""The arguments of jobs, `--name value`: options of the job and settings of the deployment."""

from collections.abc import Collection, Sequence
from dataclasses import fields

from graveler.aws.settings import DeploymentSettings
from graveler.errors import InvalidInputError

# The prefixes of the arguments that Glue itself adds: as of November 2026, those in "AWS Glue job
# parameters", and the names of job and run.
_OF_GLUE = (
    *("additional-", "auto-", "class", "conf", "continuous-", "custom-", "customer-", "datalake-"),
    *("disable-", "enable-", "encryption-", "executor-", "extra-", "job-", "job_", "python-"),
    *("script", "security_configuration", "spark-", "tempdir", "use-", "user-", "write-"),
)
# Glue also adds this word, without a name.
_WORD_OF_GLUE = "true"


def settings_in(words: Sequence[str], unnamed: Sequence[str] = ()) -> dict[str, str]:
    """Return the settings among the arguments that are not options; Glue's own are ignored.

    Args:
        words: the arguments.
        unnamed: more names. Their values may come without a name, in this order, but never empty.

    Raises:
        InvalidInputError: an argument is unknown, has no name, is empty, or contradicts another.
            So a mistyped command does no harm.
    """
    known = {field.name for field in fields(DeploymentSettings)} | {*unnamed}
    given: dict[str, str] = {}
    stray: list[str] = []
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = _split(word, known)
            if equals or name in unnamed:
                given[name] = value
            if equals:
                name = ""
        elif name:
            given[name] = word
            name = ""
        else:
            stray.append(word)
    if given.keys() - known:
        stray = [word for word in stray if word != _WORD_OF_GLUE]
    _place(stray, unnamed, given)
    return {name: value for name, value in given.items() if name in known}


def _split(word: str, known: Collection[str]) -> tuple[str, str, str]:
    """Return the name, the sign and the value of `--name` or `--name=value`."""
    name, equals, value = word[2:].partition("=")
    if not name.lower().startswith(_OF_GLUE):
        name = name.replace("-", "_")
        if name not in known:
            raise InvalidInputError(f"argument {word!r} is not known")
    return name, equals, value


def _place(stray: Sequence[str], unnamed: Sequence[str], given: dict[str, str]) -> None:
    """Add the values without a name to the given ones."""
    if len(stray) > len(unnamed):
        raise InvalidInputError(f"argument {stray[len(unnamed)]!r} has no name: write --name value")
    for name, word in zip(unnamed, stray, strict=False):
        if given.setdefault(name, word) != word:
            raise InvalidInputError(f"{name} is {word!r} and also {given[name]!r}: give one")
    for name in unnamed:
        if given.get(name) == "":
            raise InvalidInputError(f"{name} is empty: give a value, or leave it out")
