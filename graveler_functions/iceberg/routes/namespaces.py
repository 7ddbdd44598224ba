"""Namespaces; in the catalogue of all repositories, repositories and refs are namespaces too."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.needs import Permission
from graveler.access.resources import repository_arn
from graveler.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from graveler.model import Page
from graveler.operations import branches, repositories
from graveler.operations.tables import namespaces
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.iceberg.catalog import CatalogPlace, levels_of
from graveler_functions.iceberg.request import IcebergRequest


class NamespaceCreation(Struct):
    namespace: list[str]
    properties: dict[str, str] = {}


class PropertyUpdate(Struct):
    updates: dict[str, str] = {}
    removals: list[str] = []


def list_namespaces(request: IcebergRequest) -> ApiAnswer:
    parent = request.query.text("parent")
    levels = levels_of(parent) if parent else []
    place = request.catalog.place(levels)
    names, token = request.pages(lambda after, amount: _children(request, place, after, amount))
    found = {"namespaces": [[*levels, name] for name in names]}
    return answers.of_json(found | {"next-page-token": token})


def _children(request: IcebergRequest, place: CatalogPlace, after: str, amount: int) -> Page[str]:
    engine = request.engine
    if place.is_in_ref:
        request.require_on_namespace(Action.LIST_NAMESPACES, place)
        return namespaces.list_namespaces(engine, *place.parts, after, amount)
    if place.repository:
        request.rights.require(Permission(Action.LIST_BRANCHES, repository_arn(place.repository)))
        found = branches.list_page(engine, place.repository, prefix="", after=after, amount=amount)
        return Page(tuple(branch.name for branch in found.results), found.next_after)
    request.rights.require_somewhere(Action.LIST_REPOSITORIES)
    listed = repositories.list_page(engine, prefix="", after=after, amount=amount)
    names = [repository.name for repository in listed.results]
    visible = (
        name
        for name in names
        if request.rights.allows(Permission(Action.LIST_REPOSITORIES, repository_arn(name)))
    )
    return Page(tuple(visible), listed.next_after)


def create_namespace(request: IcebergRequest) -> ApiAnswer:
    body = request.decode(NamespaceCreation)
    if not body.namespace:
        raise InvalidInputError("namespace has no level")
    place = request.catalog.place(body.namespace)
    request.require_on_namespace(Action.CREATE_NAMESPACE, place)
    if not place.namespace:
        _check_is_there(request, place)
        raise AlreadyExistsError(f"Namespace already exists: {'.'.join(body.namespace)}")
    namespaces.create(request.engine, *place.parts, body.properties)
    return answers.of_json({"namespace": body.namespace, "properties": body.properties})


def load_namespace(request: IcebergRequest) -> ApiAnswer:
    return answers.of_json({"namespace": request.levels, "properties": _properties(request)})


def has_namespace(request: IcebergRequest) -> ApiAnswer:
    _properties(request)
    return answers.empty()


def _properties(request: IcebergRequest) -> Mapping[str, str]:
    place = request.place
    request.require_on_namespace(Action.GET_NAMESPACE, place)
    try:
        if not place.namespace:
            _check_is_there(request, place)
            return {}
        return namespaces.properties_of(request.engine, *place.parts)
    except InvalidInputError as error:  # nothing has such a name
        raise NotFoundError(str(error)) from error


def _check_is_there(request: IcebergRequest, place: CatalogPlace) -> None:
    """Check that the repository exists, and the ref, if the place has one.

    Raises:
        NotFoundError: it does not.
    """
    if place.ref:
        namespaces.check_exists(request.engine, place.repository, place.ref, ())
    else:
        repositories.get(request.engine, place.repository)


def update_properties(request: IcebergRequest) -> ApiAnswer:
    place = _own_place(request)
    request.require_on_namespace(Action.UPDATE_NAMESPACE, place)
    body = request.decode(PropertyUpdate)
    changes: Any = namespaces.update_properties(
        request.engine, *place.parts, body.updates, body.removals
    )
    return answers.of_json(
        {"updated": changes.updated, "removed": changes.removed, "missing": changes.missing}
    )


def drop_namespace(request: IcebergRequest) -> ApiAnswer:
    place = _own_place(request)
    request.require_on_namespace(Action.DELETE_NAMESPACE, place)
    namespaces.drop(request.engine, *place.parts)
    return answers.empty()


def _own_place(request: IcebergRequest) -> CatalogPlace:
    """Return the namespace in the path, which the catalogue can change.

    Raises:
        InvalidInputError: it is a repository or a ref.
    """
    if not request.place.namespace:
        raise InvalidInputError(
            f"{'.'.join(request.levels)!r} is a repository or a ref: change it with lakeFS's API"
        )
    return request.place
