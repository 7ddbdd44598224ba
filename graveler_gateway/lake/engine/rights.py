"""The permissions that each use of the lake needs, as in lakeFS's gateway."""

from graveler.access.actions import Action
from graveler.access.needs import Need, Permission
from graveler.access.resources import object_arn, repository_arn


def listing_repository(repository: str) -> Need:
    return Permission(Action.LIST_REPOSITORIES, repository_arn(repository))


def creating_repository(repository: str) -> Need:
    return Permission(Action.CREATE_REPOSITORY, repository_arn(repository))


def reading_repository(repository: str) -> Need:
    return Permission(Action.READ_REPOSITORY, repository_arn(repository))


def listing_objects(repository: str) -> Need:
    return Permission(Action.LIST_OBJECTS, repository_arn(repository))


def reading(repository: str, path: bytes) -> Need:
    return Permission(Action.READ_OBJECT, _object(repository, path))


def writing(repository: str, path: bytes) -> Need:
    return Permission(Action.WRITE_OBJECT, _object(repository, path))


def deleting(repository: str, path: bytes) -> Need:
    return Permission(Action.DELETE_OBJECT, _object(repository, path))


def _object(repository: str, path: bytes) -> str:
    return object_arn(repository, path.decode("utf-8", "replace"))
