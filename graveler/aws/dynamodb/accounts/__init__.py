"""The AccountStore on DynamoDB, put together from the stores of each kind of record.

Theory of operation. Every user, group and policy has a uid, and every reference to one carries the
uid that it had. A reference whose uid is not the current one is dead: it gives no right, and no
reader shows it. So a deletion is one write. What it leaves is deleted afterwards, in steps, and
nothing of it passes to a later record of the same name, however requests race. A write that makes
a reference checks both uids in its transaction.

References are kept where the check of a request needs them: the policies and groups of a user in
the user's item, the policies of a group in the group's item. The reverse direction, the members of
a group, has items of its own.
"""

from graveler.aws.dynamodb.accounts.installation import InstallationRecords
from graveler.aws.dynamodb.accounts.policies import PolicyRecords
from graveler.aws.dynamodb.accounts.principals import PrincipalRecords
from graveler.aws.dynamodb.accounts.users import UserRecords

__all__ = ["DynamoAccountStore"]


class DynamoAccountStore(UserRecords, PolicyRecords, PrincipalRecords, InstallationRecords):
    """`graveler.ports.AccountStore` over the accounts partition; a Cipher encrypts the secrets."""

    __slots__ = ()
