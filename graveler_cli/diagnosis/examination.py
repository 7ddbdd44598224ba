"""All checks of a client's set-up, in the order in which to correct what they find."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from graveler_cli.configuration import Configuration
from graveler_cli.diagnosis.connection import check_connection
from graveler_cli.diagnosis.settings import (
    check_endpoint,
    check_file,
    check_keys,
    check_variables,
)
from graveler_cli.findings import Finding


def examine(file: Path | None, variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield every finding; after an error in the configuration, no request is sent."""
    has_error = False
    for finding in check_file(file, variables):
        has_error |= finding.level == "error"
        yield finding
    file_values: Mapping[str, str] = {}
    configuration = Configuration(Path(), variables)
    if not has_error:
        configuration = Configuration.read(file, variables)
        file_values = Configuration.read(file, _only_file(variables)).values
    for group in (
        check_variables(file_values, variables),
        check_endpoint(configuration),
        check_keys(configuration),
    ):
        for finding in group:
            has_error |= finding.level == "error"
            yield finding
    if not has_error:
        yield from check_connection(configuration)


def _only_file(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variable that names the file, without those that override it."""
    return {name: text for name, text in variables.items() if name == "LAKECTL_CONFIG_FILE"}
