"""All operations: a process imports them at its first request for one that is not frequent."""

from functools import cache

from graveler.http.json_bodies import encode
from graveler_functions.api import openapi
from graveler_functions.api.authorization.checks import Public
from graveler_functions.api.frequent_operations import FREQUENT
from graveler_functions.api.routes import (
    accounts,
    actions,
    audit,
    collection_runs,
    credentials,
    dumps,
    exports,
    groups,
    history,
    imports,
    many_writes,
    metadata,
    policies,
    prefixes,
    presigned,
    principals,
    protection,
    pulls,
    retention,
    reviews,
    rights,
    sessions,
    tasks,
    users,
)
from graveler_functions.api.routes.configuration import API_VERSION
from graveler_functions.api.routing import ApiOperation, Template
from graveler_functions.api.unserved import UNSERVED

_RESOURCES = (
    accounts,
    protection,
    retention,
    collection_runs,
    metadata,
    exports,
    dumps,
    imports,
    tasks,
    users,
    sessions,
    groups,
    policies,
    credentials,
    principals,
    rights,
    pulls,
    reviews,
    prefixes,
    history,
    presigned,
    many_writes,
    audit,
    actions,
)
OTHERS: tuple[ApiOperation, ...] = tuple(
    operation for resource in _RESOURCES for operation in resource.operations.table
)
OPERATIONS = (*FREQUENT, *OTHERS)
# Of every operation, also of those of lakeFS that are not served.
TEMPLATES = (*(each.template for each in OPERATIONS), *UNSERVED)

# Outside of the API's prefix, where browsers go.
LOG_OUT = Template("GET", "/logout", "logout", Public())
log_out = accounts.log_out


@cache
def document(prefix: str) -> str:
    """Return the OpenAPI document of the operations, which are below the prefix."""
    return encode(openapi.document(OPERATIONS, prefix, API_VERSION))
