"""Needs that are known only when the operation has read a record; its route checks them."""

from collections.abc import Mapping

from graveler.access.actions import Action
from graveler.access.needs import AllOf, Permission
from graveler.access.resources import branch_arn, namespace_arn, object_arn, repository_arn
from graveler.model.tasks import Task, TaskKind
from graveler_functions.api.request import Request

# The words for a check of the task that a request names.
OF_ITS_TASK = "the same on the task's own branch"

DUMP_ACTIONS = (Action.LIST_TAGS, Action.LIST_BRANCHES, Action.LIST_COMMITS)
RESTORE_ACTIONS = (Action.CREATE_TAG, Action.CREATE_BRANCH, Action.CREATE_COMMIT)

# Each kind of task: the actions that its status needs, and those that its cancellation needs. The
# resource is the task's branch; for a task without one, it is the repository.
TASK_NEEDS: Mapping[TaskKind, tuple[tuple[Action, ...], tuple[Action, ...]]] = {
    TaskKind.COMMIT: ((Action.READ_BRANCH,), (Action.CREATE_COMMIT,)),
    TaskKind.MERGE: ((Action.READ_BRANCH,), (Action.CREATE_COMMIT,)),
    TaskKind.MERGE_PULL_REQUEST: ((Action.READ_BRANCH,), (Action.CREATE_COMMIT,)),
    TaskKind.REVERT: ((Action.READ_BRANCH,), (Action.REVERT_BRANCH,)),
    TaskKind.CHERRY_PICK: ((Action.READ_BRANCH,), (Action.CREATE_COMMIT,)),
    TaskKind.IMPORT: ((Action.READ_BRANCH,), (Action.IMPORT_CANCEL,)),
    TaskKind.DUMP: (DUMP_ACTIONS, DUMP_ACTIONS),
    TaskKind.RESTORE: (RESTORE_ACTIONS, RESTORE_ACTIONS),
    TaskKind.PREPARE_COMMITS: ((Action.PREPARE_COMMITS,), (Action.PREPARE_COMMITS,)),
    TaskKind.HOOKS: ((Action.READ_ACTION,), (Action.READ_ACTION,)),
    TaskKind.DESCRIBE_OBJECTS: ((Action.LIST_OBJECTS,), (Action.LIST_OBJECTS,)),
    TaskKind.COPY_PREFIX: ((Action.READ_BRANCH,), (Action.WRITE_OBJECT,)),
    TaskKind.MOVE_PREFIX: ((Action.READ_BRANCH,), (Action.WRITE_OBJECT,)),
    TaskKind.RESTORE_PREFIX: ((Action.READ_BRANCH,), (Action.WRITE_OBJECT,)),
    TaskKind.DELETE_PREFIX: ((Action.READ_BRANCH,), (Action.DELETE_OBJECT,)),
}


def status_need(request: Request, task: Task) -> AllOf:
    """Return what the status of the task needs, of a repository that the request names."""
    return _need_of(request, task, TASK_NEEDS[task.kind][0])


def cancellation_need(request: Request, task: Task) -> AllOf:
    """Return what the cancellation of the task needs."""
    return _need_of(request, task, TASK_NEEDS[task.kind][1])


def _need_of(request: Request, task: Task, actions: tuple[Action, ...]) -> AllOf:
    repository = request.repository
    arn = branch_arn(repository, task.branch) if task.branch else repository_arn(repository)
    return AllOf(tuple(Permission(action, arn) for action in actions))


def commit_need(request: Request, branch: str) -> Permission:
    """Return what a commit to a branch needs that the request does not name."""
    return Permission(Action.CREATE_COMMIT, branch_arn(request.repository, branch))


def heads_need(request: Request) -> Permission:
    """Return what the commits of a list of branches need."""
    return Permission(Action.READ_COMMIT, repository_arn(request.repository))


def sweeping_need(request: Request) -> Permission:
    """Return what a collection needs that deletes: the right to set the rules of its deletions."""
    return Permission(Action.SET_COLLECTION_RULES, repository_arn(request.repository))


def moderating_need(request: Request) -> Permission:
    """Return what the deletion of another user's comment needs."""
    return Permission(Action.UPDATE_REPOSITORY, repository_arn(request.repository))


def branch_need(request: Request, branch: str) -> Permission:
    """Return what a user needs to see that a branch exists."""
    return Permission(Action.READ_BRANCH, branch_arn(request.repository, branch))


def listing_need(repository: str) -> Permission:
    """Return what a row of the list of repositories needs."""
    return Permission(Action.LIST_REPOSITORIES, repository_arn(repository))


def reading_need(repository: str, path: str) -> Permission:
    """Return what a presigned URL of the object needs: its holder can read the object."""
    return Permission(Action.READ_OBJECT, object_arn(repository, path))


def check_import(request: Request, physical_address: str) -> None:
    """Check that the user may import the data at the address.

    Raises:
        AccessDeniedError: the user may not.
    """
    arn = namespace_arn(physical_address)
    request.rights.require(Permission(Action.IMPORT_FROM_STORAGE, arn))
