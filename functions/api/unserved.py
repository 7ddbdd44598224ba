"""The operations of lakeFS's API that are not served; they answer 501.

A path in neither this table nor a route module is not lakeFS's, and answers 404.
"""

from functions.api.routing import Template

# Like their served neighbours, these need no credentials.
_PUBLIC = frozenset({"externalPrincipalLogin", "oauthCallback", "stsLogin"})

# Method and path below /api/v1, and the operationId.
_TABLE = """
POST   /auth/external/principal/login externalPrincipalLogin
GET    /auth/external/principals getExternalPrincipal
GET    /auth/groups listGroups
POST   /auth/groups createGroup
DELETE /auth/groups/<group_id> deleteGroup
GET    /auth/groups/<group_id> getGroup
GET    /auth/groups/<group_id>/acl getGroupACL
POST   /auth/groups/<group_id>/acl setGroupACL
GET    /auth/groups/<group_id>/members listGroupMembers
DELETE /auth/groups/<group_id>/members/<user_id> deleteGroupMembership
PUT    /auth/groups/<group_id>/members/<user_id> addGroupMembership
GET    /auth/groups/<group_id>/policies listGroupPolicies
DELETE /auth/groups/<group_id>/policies/<policy_id> detachPolicyFromGroup
PUT    /auth/groups/<group_id>/policies/<policy_id> attachPolicyToGroup
GET    /auth/policies listPolicies
POST   /auth/policies createPolicy
DELETE /auth/policies/<policy_id> deletePolicy
GET    /auth/policies/<policy_id> getPolicy
PUT    /auth/policies/<policy_id> updatePolicy
GET    /auth/users listUsers
POST   /auth/users createUser
DELETE /auth/users/<user_id> deleteUser
GET    /auth/users/<user_id> getUser
GET    /auth/users/<user_id>/credentials listUserCredentials
POST   /auth/users/<user_id>/credentials createCredentials
DELETE /auth/users/<user_id>/credentials/<access_key_id> deleteCredentials
GET    /auth/users/<user_id>/credentials/<access_key_id> getCredentials
DELETE /auth/users/<user_id>/external/principals deleteUserExternalPrincipal
POST   /auth/users/<user_id>/external/principals createUserExternalPrincipal
GET    /auth/users/<user_id>/external/principals/ls listUserExternalPrincipals
GET    /auth/users/<user_id>/groups listUserGroups
GET    /auth/users/<user_id>/policies listUserPolicies
DELETE /auth/users/<user_id>/policies/<policy_id> detachPolicyFromUser
PUT    /auth/users/<user_id>/policies/<policy_id> attachPolicyToUser
GET    /oidc/callback oauthCallback
POST   /sts/login stsLogin
GET    /repositories/<repository>/pulls listPullRequests
POST   /repositories/<repository>/pulls createPullRequest
GET    /repositories/<repository>/pulls/<pull_request> getPullRequest
PATCH  /repositories/<repository>/pulls/<pull_request> updatePullRequest
PUT    /repositories/<repository>/pulls/<pull_request>/merge mergePullRequest
"""

UNSERVED = tuple(
    Template(method, path, name, name in _PUBLIC)
    for method, path, name in (line.split() for line in _TABLE.strip().splitlines())
)
