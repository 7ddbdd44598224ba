"""Compaction: a branch keeps few sealed tokens, however many of its commits are refused.

Theory of operation. A refused commit leaves a sealed token, which readers look into and which the
branch's item names. So before a seal, sealed tokens are merged into a new one until there is room.
They must follow one another: then the newest change of each path stays the newest. Tombstones stay
as well: they hide older changes and committed records.

    step                                       after a crash before the next step
    offer: register the new token to be        the token is empty, and the cleanup removes its
      dropped                                    entry in the register
    fill: write the changes under it           the cleanup drops it
    swap: put it in place of the merged        it is the branch's; the merged ones are registered
      tokens, and off the register

The swap is one transaction. Each condition prevents the loss of a change:

- The branch has the version that was read. So no move has taken tokens off, and no other compaction
  was faster. No writer has asked for another scan of its token (*confirming*, `staging`). The swap
  raises the version: moves in progress plan again, and a late writer finds its token gone.
- The merged tokens are where they were. Another branch of the name has other tokens.
- The offer is in the register. The cleanup ends an offer before it drops the token. So a slow
  compaction cannot swap in a token of which a part is dropped.

A seal adds a token before all others, so it does not fail the swap. Each try has its own token: a
request of an earlier try may arrive late. No writer stages under it, so it needs no gates. Readers
and slices may use an older record of the branch. So the merged tokens stay readable as long as
tokens that a commit takes off.

*Which tokens?* The newest ones: each older one as long as those before it hold as much. So a change
is rewritten about log2(n) times while n changes follow it. A large old token is not rewritten.
"""

from collections.abc import Sequence
from itertools import islice

from graveler.branches.views import side_by_side, staged_changes
from graveler.branches.watching import Watching
from graveler.engine import Engine
from graveler.limits import SEALED_REPLACED_MAX
from graveler.model import Branch, StagingToken
from graveler.model.tokens import spread_of
from graveler.open_repository import OpenRepository

# Filled at once: eight batches of DynamoDB.
_CHANGES_AT_ONCE = 200


def compact(
    repo: OpenRepository, branch: Branch, passed: int, sealed_max: int, watching: Watching
) -> None:
    """Merge sealed tokens of the branch, so that fewer than sealed_max are left.

    More than SEALED_REPLACED_MAX tokens take several calls, each for the next group of neighbours.
    passed: the number of earlier calls, which made the newest tokens.

    Raises:
        StaleVersionError: the branch changed, or was deleted.
        Exception: whatever watching raises.
    """
    tokens = branch.sealed_tokens
    if len(tokens) > SEALED_REPLACED_MAX:
        first = passed if passed + 2 <= len(tokens) else 0
        replaced = tokens[first : first + SEALED_REPLACED_MAX]
    else:
        replaced = tokens[: _amount(repo.engine, tokens, sealed_max, watching)]
    spread = max(map(spread_of, replaced))
    token = repo.engine.names.new_staging_token(repo.record, branch.name, spread)
    offer = repo.engine.refs.offer_token(token, repo.engine.drop_after_ns())
    changes = watching(staged_changes(repo.engine, replaced))
    while batch := list(islice(changes, _CHANGES_AT_ONCE)):
        repo.engine.staging.fill(token, batch)
    repo.engine.refs.replace_sealed(
        repo.record,
        branch,
        replaced=replaced,
        token=token,
        offer=offer,
        drop_after_ns=repo.engine.drop_after_ns(),
    )


def _amount(
    engine: Engine, tokens: Sequence[StagingToken], sealed_max: int, watching: Watching
) -> int:
    """Return how many of the newest tokens to merge, so that fewer than sealed_max are left."""
    least = len(tokens) - sealed_max + 2
    scans = side_by_side(engine, [engine.staging.scan_paths(each, b"", None) for each in tokens])
    changes = 0
    for number, paths in enumerate(scans):
        enough = None if number < least else changes + 1
        more = sum(1 for _ in islice(watching(paths), enough))
        if number >= least and more > changes:
            return number
        changes += more
    return len(tokens)
