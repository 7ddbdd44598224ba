"""The AccountStore on DynamoDB, composed of the stores of each kind of record.

Theory of operation. Every user, group and policy has a uid, and every reference to one includes the
uid. A reference whose uid is not the current one is dead: it gives no right, and no reader returns
it. So a deletion is one write. The items that it leaves are deleted afterwards, in steps. A later
record of the same name never gets them, however requests race. A write that adds a reference checks
both uids in its transaction.

References are stored where the check of a request reads them. A user's item has the user's policies
and groups, and a group's item has the group's policies. The reverse direction, the members of a
group, has items of its own.
"""

from graveler.aws.dynamodb.accounts.audit import AuditRecords
from graveler.aws.dynamodb.accounts.installation import InstallationRecords
from graveler.aws.dynamodb.accounts.policies import PolicyRecords
from graveler.aws.dynamodb.accounts.principals import PrincipalRecords
from graveler.aws.dynamodb.accounts.users import UserRecords

__all__ = ["DynamoAccountStore"]


class DynamoAccountStore(
    UserRecords, PolicyRecords, PrincipalRecords, InstallationRecords, AuditRecords
):
    """`graveler.ports.AccountStore` over the accounts partition; a Cipher encrypts the secrets."""

    __slots__ = ()
