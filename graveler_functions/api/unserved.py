"""The operations of lakeFS's API that are not served: they answer 501 to a user with the right.

A path in neither this table nor a route module is not lakeFS's, and answers 404.
"""

from typing import Never

from graveler.access.actions import Action
from graveler.messages import Refusal
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On, Public
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Route, Template

UNSERVED = (
    Template(
        "GET",
        "/auth/groups/<group_id>/acl",
        "getGroupACL",
        Needs(On(Action.READ_GROUP, named.GROUP), On(Action.READ_POLICY, named.POLICY_OF_ACL)),
    ),
    Template(
        "POST",
        "/auth/groups/<group_id>/acl",
        "setGroupACL",
        Needs(
            On(Action.READ_GROUP, named.GROUP),
            On(Action.ATTACH_POLICY, named.POLICY_OF_ACL),
            On(Action.UPDATE_POLICY, named.POLICY_OF_ACL),
        ),
    ),
    # Like their served neighbours, these need no credentials.
    Template("GET", "/oidc/callback", "oauthCallback", Public()),
    Template("POST", "/sts/login", "stsLogin", Public()),
)


def refusal_of(template: Template) -> Route:
    """Return a route that refuses by the operation's name."""

    def refuse(_: Request) -> Never:
        raise Refusal.NOT_SERVED.error(f"{template.name} is not served, see docs/api.md")

    return refuse
