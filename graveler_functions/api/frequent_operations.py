"""The operations that most requests ask for; each process imports them when it starts."""

from graveler_functions.api.routes import (
    branches,
    commits,
    configuration,
    content,
    objects,
    recorded_uploads,
    refs,
    repositories,
    staging,
    tags,
    uploads,
)
from graveler_functions.api.routing import ApiOperation

# Routes with the same number of segments are tried in order, so frequent resources come first.
_RESOURCES = (
    objects,
    content,
    staging,
    commits,
    branches,
    repositories,
    refs,
    tags,
    uploads,
    recorded_uploads,
    configuration,
)
FREQUENT: tuple[ApiOperation, ...] = tuple(
    operation for resource in _RESOURCES for operation in resource.operations.table
)
