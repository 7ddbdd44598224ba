"""The operations of lakeFS's API that are not served; they answer 501.

A path in neither this table nor a route module is not lakeFS's, and answers 404.
"""

from functions.api.routing import Template

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
