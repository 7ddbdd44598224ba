"""Which programs are tried: mixes of operations, each after one kind of trouble.

Programs are short, and clients meet at few paths: what goes wrong between two operations needs no
more of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from tests.simulation.schedule import Op, Schedule
from tests.simulation.tag_actions import SHARED, TAGS
from tests.simulation.worlds import PATHS, PREFIXED

WRITES = "upload upload delete upload_if_absent set_metadata"
COMMITS = "commit commit commit merge revert cherry_pick"
# They end what an operation began with: the branch, its head, or the repository.
BRANCH_LIVES = "recreate_branch recreate_branch rename_branch hard_reset hard_reset"
LIVES = f"{BRANCH_LIVES} recreate_repository"
RESETS = "reset reset_object reset_prefix hard_reset"
TASKS = "start_commit commit_by_task cancel_task show_task run_tasks run_tasks run_tasks"
UPLOADS = (
    "begin_upload upload_parts upload_parts upload_parts_if_absent upload_parts_if_absent"
    " upload_parts_if_match complete_upload complete_upload complete_upload_if_absent abort_upload"
)
_LIVES_ONE_IN = 8
_SLOWLY = "_slowly"
_HISTORY = "commit_empty commit_empty cherry_pick"


@dataclass(frozen=True, slots=True)
class Mix:
    """Kinds of operations, the more often named the more often chosen, and where they begin."""

    kinds: str
    worlds: str = "plain plain staged"
    branches: str = "main main main dev"
    amounts: tuple[int, ...] = (2, 3, 3, 3, 4, 4, 5, 6, 8)  # of clients
    longest: int = 3  # program
    paths: tuple[bytes, ...] = ()  # by chance
    same: float = 0.0  # how often the content that is written is one that is committed
    lives: str = LIVES  # of these, some schedules get one
    # What the first clients begin with, in every second schedule: one of these.
    aims: tuple[str, ...] = ()


MIXES: dict[str, Mix] = {
    "writes": Mix(f"{WRITES} {WRITES} commit commit get get get_head list"),
    "all_writes": Mix(f"{WRITES} stage link copy delete_many stage_if_absent commit commit get"),
    "overwrite": Mix("upload upload upload set_metadata commit get", same=0.5),
    "conditional": Mix("upload_if_absent upload_if_absent upload delete commit get"),
    "matching": Mix(
        "upload_if_match upload_if_match delete_if_match upload delete set_metadata commit get"
    ),
    "described": Mix("stage_if_absent stage_if_absent delete commit get"),
    "replaced": Mix("stage stage replace_described copy_shallow commit get get get"),
    "metadata": Mix("set_metadata merge revert cherry_pick hard_reset get"),
    "resets": Mix(f"{RESETS} {WRITES} commit get"),
    "reset_object": Mix("reset_object reset_prefix upload merge hard_reset get"),
    "commits": Mix(f"{COMMITS} {WRITES} {RESETS} get get_head"),
    "crossed": Mix("merge merge merge upload delete commit commit", "crossed", "main dev"),
    "protected": Mix(f"{COMMITS} {RESETS} {WRITES} merge merge get get_head", "protected"),
    "unchanged": Mix("upload stage commit get merge collect", "plain restaged", same=0.5),
    # A dump is restored in the place of the first repository.
    "dump": Mix(
        f"dump {_HISTORY}", "plain dumped", amounts=(2, 2, 3), longest=4, lives=BRANCH_LIVES
    ),
    "restore": Mix("dump restore restore commit upload collect", "dumped", lives=BRANCH_LIVES),
    "active": Mix(f"prepare_commits {_HISTORY}", "plain", amounts=(2, 2, 3), longest=4),
    "collect": Mix(
        f"collect collect {WRITES} {COMMITS} {RESETS} create_branch delete_branch copy", same=0.1
    ),
    "shared": Mix(
        f"copy_shallow copy_shallow copy_shallow {WRITES} commit get list collect reset_object"
    ),
    "foreign": Mix("collect collect nest_repository upload commit", "foreign nested plain"),
    "export": Mix(
        "delete_branch delete_branch create_branch configure_export run_export upload commit",
        "exported",
        "dev",
    ),
    "branches": Mix(f"create_branch delete_branch {WRITES} commit merge get list", branches="dev"),
    "repository": Mix(f"delete_repository create_repository {WRITES} commit get list"),
    "tasks": Mix(
        f"{TASKS} {TASKS} commit_by_task commit_by_task upload upload delete get commit",
        "sliced sliced_staged sliced_staged",
        aims=("commit_by_task publish_by_task run_tasks", "upload_slowly start_and_run"),
    ),
    "task_branches": Mix(
        f"{TASKS} commit_by_task {WRITES} {RESETS} commit merge get get_head",
        "sliced sliced_staged sliced_staged",
    ),
    # No hard reset: the same merge again, in the same second, would be the same commit.
    "task_merges": Mix(
        f"{TASKS} start_merge merge_by_task merge_by_task upload commit merge get",
        "sliced sliced sliced_staged",
    ),
    "compactions": Mix(
        f"seal seal seal {WRITES} {RESETS} upload delete commit commit merge get get_head list"
        " clean_up",
        "staged staged restaged",
        longest=5,
    ),
    "task_lives": Mix(
        "merge_by_task merge_by_task merge_by_task merge_by_task commit_by_task start_merge"
        " start_commit run_tasks run_tasks run_tasks run_tasks upload get"
        " recreate_branch hard_reset hard_reset",
        "sliced sliced sliced_staged",
        "dev dev dev main",
    ),
    "replays": Mix(
        "revert_by_task cherry_pick_by_task cherry_pick_by_task cherry_pick_by_task"
        " run_tasks run_tasks run_tasks publish publish hard_reset hard_reset recreate_branch get",
        "sliced",
        "dev main main",
    ),
    "prefix_lives": Mix(
        "start_move start_copy run_tasks run_tasks run_tasks recreate_branch recreate_branch"
        " upload commit get",
        "sliced sliced_staged",
        "dev dev main",
    ),
    "restores": Mix(
        "restore restore restore start_restore run_tasks run_tasks"
        " delete_restored_branch delete_restored_branch delete_restored_tag",
        "dumped",
    ),
    "expiry": Mix(
        "collect_old collect_old collect_old collect_old_slowly describe_and_reset describe_and_reset"
        " describe_and_reset rename_by_hand rename_by_hand rename_by_hand rename_branch"
        " rename_branch copy_shallow publish merge sleep",
        "expiring expiring expiring_later",
        paths=PATHS,
        aims=("collect_old_slowly rename_beside_look",),
    ),
    "transfers": Mix(
        "start_move start_move start_move start_copy run_tasks run_tasks run_tasks run_tasks"
        " upload upload upload delete set_metadata commit get list reset_object",
        "prefixed",
        "main main main dev",
        paths=PREFIXED,
        longest=5,
    ),
    "transfers_expiry": Mix(
        "start_move start_move start_copy run_tasks run_tasks run_tasks collect_old collect_old"
        " collect_old collect_old_slowly rename_by_copy rename_by_copy rename_by_copy copy_name upload"
        " delete commit reset reset_prefix branch_off",
        "prefixed_expiring",
        "main main dev",
        amounts=(2, 2, 3, 3, 4),
        paths=PREFIXED,
        longest=4,
        aims=("collect_old_slowly rename_by_copy",),
    ),
    "uploads": Mix(
        f"{UPLOADS} {UPLOADS} link_if_absent link upload upload upload_if_absent delete delete get get"
        " set_metadata commit reset recreate_branch recreate_branch",
        "plain staged",
        "dev dev dev main",
        longest=4,
        paths=(b"a", b"new"),
    ),
    "uploads_expiry": Mix(
        "old_upload old_upload old_upload old_upload_slowly complete_upload abort_upload"
        " expire_uploads collect_old collect_old collect_old_slowly get commit",
        "expiring",
        "dev main",
        longest=4,
        aims=("old_upload_slowly sleep_and_collect_slowly",),
    ),
    "tags": Mix(
        "create_tag create_tag create_tag delete_tag delete_tag move_tag move_tag move_tag get_tag get_tag get_tag"
        " create_shared create_shared delete_shared upload commit commit",
        "plain",
        "main",
        longest=4,
    ),
    "imports": Mix(
        "start_import start_import start_import run_tasks run_tasks run_tasks run_tasks cancel_task"
        " set_metadata set_metadata upload_if_absent upload_if_match upload delete commit reset"
        " reset_object get get get_head",
        "importing",
    ),
    "collections": Mix(
        "run_collection run_collection run_collection run_collection_slowly start_collection"
        " show_collections stall sleep hard_reset rename_by_hand rename_across"
        " rename_across rename_across rename_across rename_branch rename_branch publish",
        "expiring expiring expiring_later",
        paths=PATHS,
        aims=("run_collection_slowly run_collection", "run_collection_slowly rename_across"),
    ),
    "dumps": Mix(
        "dump_now dump_now start_dump start_dump run_tasks run_tasks run_tasks run_tasks"
        " rename_branch rename_branch rename_to_tag rename_to_tag rename_to_branch"
        " commit_empty merge hard_reset",
        "plain",
        "dev main",
        lives=BRANCH_LIVES,
    ),
    "pulls": Mix(
        "merge_pull merge_pull merge_pull merge_pull merge_pull_by_task merge_pull_by_task"
        " create_pull close_pull close_pull open_pull open_pull run_tasks run_tasks merge publish"
        " recreate_branch",
        "asked",
        aims=("merge_pull_slowly close_pull",),
    ),
    "reviews": Mix(
        "merge_pull merge_pull merge_pull_by_task merge_pull_by_task approve_pull approve_pull"
        " approve_pull object_to_pull object_to_pull create_pull run_tasks run_tasks merge publish"
        " upload commit recreate_branch",
        "reviewed",
        aims=("merge_pull_slowly object_to_pull",),
    ),
    "hooks": Mix(
        "commit_by_task commit_by_task start_commit start_commit merge_by_task start_merge"
        " run_tasks run_tasks run_tasks run_tasks upload upload cancel_task get",
        "guarded",
        longest=4,
        lives="",  # the hooks are objects of the branch
    ),
    "exports": Mix(
        "work_on_export work_on_export work_on_export work_on_export freeze_export freeze_export"
        " step_clock repair_export repair_export rerun_export publish publish stage_and_commit"
        " replace_described put_back_described",
        "exporting",
        "dev",
        paths=PATHS[1:],
    ),
    "batch_exports": Mix(
        "leave_export leave_export run_export_job run_export_job run_export_job freeze_export"
        " freeze_export step_clock repair_export rerun_export publish stage_and_commit"
        " replace_described put_back_described",
        "exporting",
        "dev",
        paths=PATHS[1:],
    ),
    "tables": Mix(
        "append append append append_to_both append_to_both read_tables read_tables commit commit"
        " commit merge_if_apart merge_if_apart seal clean_up upload",
        "with_tables",
        longest=5,
        lives="",
    ),
    "access": Mix(
        "use_right use_right use_right use_right use_right withdraw_right withdraw_right"
        " grant_right grant_all nap nap nap",
        "plain",
        longest=6,
    ),
    "clock_steps": Mix(
        "run_export run_export run_export step_clock publish publish",
        "exporting",
        "dev",
        paths=PATHS[1:],
    ),
    # Processes that read often, and go by what they saw last.
    "warm": Mix(
        "get get get get list list upload upload hard_reset hard_reset hard_reset commit merge",
        amounts=(2, 3, 3, 4),
        longest=8,
        paths=PATHS[:1],
        aims=("get_on upload_and_reset", "get_on upload_and_reset", "get_on seal_and_upload"),
    ),
    # Readers stop between two reads, while what they read is taken off and dropped.
    "frozen": Mix(
        "get get get get_slowly list list_slowly upload upload_slowly commit commit_slowly wait wait"
        " clean_up clean_up commit_and_drop",
        "staged",
        amounts=(2, 3, 4),
        longest=6,
        paths=PATHS[:1],
        aims=("get_slowly commit_and_drop upload_slowly",),
    ),
    "clean_up": Mix(f"clean_up clean_up {WRITES} commit commit get list reset"),
}
# The cheap ones more often: most that can go wrong is between writes and heads that move.
DEFAULT_MIXES = (
    *MIXES,
    *("writes", "all_writes", "conditional", "matching", "metadata", "resets", "commits") * 3,
    *("branches", "repository", "clean_up", "export", "reset_object") * 2,
)
# What operations refer to.
_REFS = {
    "merge": ("dev", "main", "d1", "c1"),
    "merge_if_apart": ("dev", "main"),
    "start_merge": ("dev", "dev", "d1"),
    "merge_by_task": ("dev", "dev", "d1"),
    "revert_by_task": ("c2", "dev", "main"),
    "cherry_pick_by_task": ("d1", "dev", "dev", "main"),
    "start_move": ("a", "b", "c"),
    "stage_known": ("a", "b", "c"),
    "rename_by_hand": ("a", "b", "c"),
    "rename_across": ("b", "c"),
    "rename_by_copy": ("a3", "b1", "c1"),  # staged, and old
    "revert": ("c1", "c2", "main", "d1"),
    "cherry_pick": ("c1", "c2", "d1", "dev"),
    "describe_and_reset": ("c1", "c2", "d1", "first"),
    "hard_reset": ("c1", "c2", "d1", "first"),
    "upload_and_reset": ("c1", "d1", "first"),
    "recreate_branch": ("main", "c1", "c2", "d1"),
    "create_branch": ("main", "c1", "c2", "d1"),
    "create_shared": ("main", "c1", "c2", "d1"),
    "create_tag": ("main", "c1", "c2", "d1"),
    "move_tag": ("main", "c1", "c2", "d1"),
    "copy_shallow": ("c1", "c2", "d1"),
    "copy_name": ("dev", "main", "main"),
    "copy": ("c1", "c2", "d1"),  # whose metadata never change
}


def draw(seed: int, mixes: tuple[str, ...] = DEFAULT_MIXES, clients: int = 0) -> Schedule:
    """The schedule of a seed; clients 0: as many as it says."""
    chance = Random(f"program {seed}")
    mix = MIXES[chance.choice(mixes)]
    kinds = mix.kinds.split()
    paths: tuple[bytes, ...] = chance.choice(((b"a",), (b"a",), (b"a", b"b"), (b"a", b"b", b"c")))
    if mix.paths:
        paths = mix.paths
    amount = clients or chance.choice(mix.amounts)
    longest = 1 if amount > 5 else chance.randint(1, mix.longest)
    aims = mix.aims[seed // 2 % len(mix.aims)].split() if mix.aims and seed % 2 else []
    programs, number = [], 0
    for client in range(amount):
        program = []
        for at in range(chance.randint(1, longest)):
            kind = chance.choice(kinds)
            if not at and client < len(aims):
                kind = aims[client]
            program += _ops(_op(chance, mix, kind, paths, number + 1))
            number = program[-1].id
        programs.append(program)
    lives = Random(f"lives {seed}")
    if mix.lives and not lives.randrange(_LIVES_ONE_IN):
        made = _ops(_op(lives, mix, lives.choice(mix.lives.split()), paths, number + 1))
        program = lives.choice(programs)
        at = lives.randint(0, len(program))
        program[at:at] = made
    return Schedule(chance.choice(mix.worlds.split()), tuple(map(tuple, programs)), seed=seed)


def _each(op: Op, *kinds: str) -> list[Op]:
    return [replace(op, kind=kind) for kind in kinds]


def _renamed(op: Op) -> list[Op]:
    old, new = ("dev", "tmp") if op.id % 2 else ("tmp", "dev")
    return [Op("create_branch", new, op.path, old), Op("delete_branch", old, op.path)]


def _renamed_beside_look(op: Op) -> list[Op]:
    """A look may miss the branch in each of its two listings."""
    there, back = (_renamed(replace(op, id=number)) for number in (1, 2))
    awaited = _each(op, "await_look")
    return [*there, *awaited, *back, *there, *awaited, *back]


def _copied_and_deleted(op: Op) -> list[Op]:
    copied = _each(op, "await_look", "copy_across")
    return [*copied, Op("delete", "main", op.text.encode())]


# What a client does one after the other, for one operation of a mix.
_SEQUENCES: Mapping[str, Callable[[Op], list[Op]]] = {
    "rename_by_hand": lambda op: [
        replace(op, kind="stage_known"),
        Op("delete", op.branch, op.text.encode()),
    ],
    "rename_across": lambda op: _copied_and_deleted(replace(op, branch="dev")),
    "rename_by_copy": _copied_and_deleted,
    "publish": lambda op: _each(op, "upload", "commit"),
    "get_on": lambda op: _each(op, "get", "get", "get", "list", "get", "list", "get"),
    "seal_and_upload": lambda op: _each(op, "seal", "upload"),
    "upload_and_reset": lambda op: _each(op, "upload", "hard_reset"),
    "commit_and_drop": lambda op: _each(op, "commit", "wait", "clean_up"),
    "stage_and_commit": lambda op: _each(op, "stage", "commit"),
    "describe_and_reset": lambda op: [
        replace(op, kind="set_metadata", text=f"m{op.id}"),
        replace(op, kind="hard_reset"),
    ],
    "recreate_branch": lambda op: _each(
        replace(op, branch="dev"), "delete_branch", "create_branch"
    ),
    "branch_off": lambda op: _each(
        replace(op, branch="dev", text="main"), "delete_branch", "create_branch"
    ),
    "rename_branch": _renamed,
    "rename_beside_look": _renamed_beside_look,
    "rename_to_tag": lambda op: [
        Op("create_tag", "a-tag", op.path, "dev"),
        Op("delete_branch", "dev", op.path),
    ],
    "rename_to_branch": lambda op: [
        Op("create_branch", "dev", op.path, "a-tag"),
        Op("delete_tag", "a-tag", op.path),
    ],
    "recreate_repository": lambda op: _each(
        replace(op, branch="main"), "delete_repository", "create_repository"
    ),
    "move_tag": lambda op: _each(op, "delete_tag", "create_tag"),
    "get_tag": lambda op: _each(op, "get"),
    "create_shared": lambda op: _each(replace(op, branch=SHARED), "create_branch"),
    "delete_shared": lambda op: _each(replace(op, branch=SHARED), "delete_branch"),
    "upload_parts": lambda op: _each(op, "begin_upload", "complete_upload"),
    "upload_parts_if_absent": lambda op: _each(op, "begin_upload", "complete_upload_if_absent"),
    "upload_parts_if_match": lambda op: _each(op, "begin_upload", "complete_upload_if_match"),
    "publish_by_task": lambda op: _each(op, "upload", "commit_by_task"),
    "start_and_run": lambda op: _each(op, "start_commit", "run_tasks"),
    "sleep_and_collect": lambda op: _each(op, "sleep", "await_awaiting", "collect_old"),
    "old_upload": lambda op: _each(op, "begin_upload", "sleep", "complete_upload"),
}


def _ops(op: Op) -> list[Op]:
    parts = _SEQUENCES[op.kind](op) if op.kind in _SEQUENCES else [op]
    return [replace(each, id=op.id + at) for at, each in enumerate(parts)]


def _op(chance: Random, mix: Mix, kind: str, paths: tuple[bytes, ...], number: int) -> Op:
    kind, is_slow = kind.removesuffix(_SLOWLY), kind.endswith(_SLOWLY)
    branch, path = chance.choice(mix.branches.split()), chance.choice(paths)
    if kind in ("create_branch", "delete_branch"):
        branch = "dev"
    if kind in ("create_repository", "delete_repository", "merge_pull", "merge_pull_by_task"):
        branch = "main"
    if kind.endswith("_tag"):
        branch = chance.choice(TAGS)
    if kind in _REFS:
        text = chance.choice(_REFS[kind])
        if text == branch and kind in ("merge_by_task", "start_merge"):
            text = "main" if branch == "dev" else "dev"
    elif kind in ("start_commit", "commit_by_task", "publish_by_task", "start_and_run"):
        text = chance.choice(("again", "again", f"{number}"))  # equal requests, too
    elif kind == "set_metadata":
        text = f"m{number}"
    elif chance.random() < mix.same:
        text = chance.choice("12")  # what is committed, perhaps
    else:
        text = f"x{number}"
    return Op(kind, branch, path, text, number, is_slow)
