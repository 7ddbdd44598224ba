"""The operations of lakeFS's API that are not served: they answer 501 to a user with the right.

A path in neither this table nor a route module is not lakeFS's, and answers 404.
"""

from typing import Never

from graveler.messages import Refusal
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Route, Template

# Like their served neighbours, these need no credentials.
_PUBLIC = frozenset({"oauthCallback", "stsLogin"})

# Method and path below /api/v1, and the operationId.
_TABLE = """
GET    /auth/groups/<group_id>/acl getGroupACL
POST   /auth/groups/<group_id>/acl setGroupACL
GET    /oidc/callback oauthCallback
POST   /sts/login stsLogin
"""

UNSERVED = tuple(
    Template(method, path, name, name in _PUBLIC)
    for method, path, name in (line.split() for line in _TABLE.strip().splitlines())
)


def refusal_of(template: Template) -> Route:
    """Return a route that refuses by the operation's name."""

    def refuse(_: Request) -> Never:
        raise Refusal.NOT_SERVED.error(f"{template.name} is not served, see docs/api.md")

    return refuse
