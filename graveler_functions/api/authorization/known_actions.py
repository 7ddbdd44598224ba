"""All actions of access control, with the resources they are about and the operations they allow.

They come from the needs of the API's operations, against which requests are checked, and from those
of the Iceberg catalogue.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.catalog_needs import NEEDS as CATALOG_NEEDS
from graveler.access.resources import ALL, can_match
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import (
    Check,
    Needs,
    NeedsOfOthers,
    NeedsOneOf,
    NeedsSomewhere,
)
from graveler_functions.api.routing import Template

# A name that a request fills in, behind the kind of its resource.
_FILLED_IN = re.compile(r"([a-zA-Z]+)/[^/]*\{[^}]*\}")
_NAMES = {
    "repository": "{repository}",
    "object": "{path}",
    "branch": "{branch}",
    "tag": "{tag}",
    "namespace": "{uri}",
}
_NAME = "{name}"


class KnownAction(Struct, frozen=True):
    """An action; braces in the forms of its resources mark the names to fill in."""

    action: Action
    resources: tuple[str, ...]
    operations: tuple[str, ...]


def known_actions(templates: Iterable[Template]) -> Iterator[KnownAction]:
    """Yield every action, also those that neither a template nor the catalogue needs."""
    needed = [
        *(
            (action, _general(form), template.name)
            for template in templates
            for action, forms in _actions_of(template.needs)
            for form in forms
        ),
        *(
            (need.action, need.form, name)
            for name, needs in CATALOG_NEEDS.items()
            for need in needs
        ),
    ]
    for action in Action:
        yield KnownAction(
            action,
            tuple(sorted({form for each, form, _ in needed if each is action})),
            tuple(sorted({name for each, _, name in needed if each is action})),
        )


def actions_about(resource: str, known: Iterable[KnownAction]) -> Iterator[Action]:
    """Yield the actions that can be done to the resource, as explain_access takes it."""
    for each in known:
        if resource == ALL:
            is_about = ALL in each.resources
        else:
            is_about = any(can_match(resource, form) for form in each.resources)
        if is_about:
            yield each.action


def _actions_of(needs: Check) -> Iterator[tuple[Action, tuple[str, ...]]]:
    """Yield the actions of the needs, each with the forms of its resources."""
    if isinstance(needs, NeedsOfOthers):
        yield from _actions_of(needs.needs)
    elif isinstance(needs, Needs):
        yield from ((on.action, on.resources.forms) for on in needs.all_of)
    elif isinstance(needs, NeedsOneOf):
        yield needs.each.action, needs.each.resources.forms
    elif isinstance(needs, NeedsSomewhere):
        # Only the list of repositories has such needs.
        yield needs.action, named.REPOSITORY.forms


def _general(form: str) -> str:
    """Return the form with one name for each kind of resource, without a wildcard at its end."""

    def renamed(match: re.Match[str]) -> str:
        kind = match[1]
        return f"{kind}/{_NAMES.get(kind, _NAME)}"

    return _FILLED_IN.sub(renamed, form).removesuffix("*") or form
