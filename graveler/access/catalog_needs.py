"""The rights that each operation of the Iceberg catalogue needs, as its routes check them."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.resources import (
    catalog_namespace_arn,
    catalog_table_arn,
    namespace_arn,
    repository_arn,
)


class CatalogNeed(Struct, frozen=True):
    """An action that a route requires; braces in the form of its resource mark names to fill in.

    when: for which requests alone, in words.
    """

    action: Action
    form: str
    when: str = ""

    def __str__(self) -> str:
        return f"`{self.action}` on `{self.form}`{self.when and f' {self.when}'}"


_REPOSITORY = repository_arn("{repository}")
_ROOT = catalog_namespace_arn("{repository}", ())
_NAMESPACE = catalog_namespace_arn("{repository}", ("{namespace}",))
_TABLE = catalog_table_arn("{repository}", ("{namespace}",), "{table}")

_GET_NAMESPACE = (
    CatalogNeed(Action.GET_NAMESPACE, _NAMESPACE, "for a namespace"),
    CatalogNeed(Action.GET_NAMESPACE, _ROOT, "for a repository or a ref"),
)
_READ_TABLE = CatalogNeed(Action.READ_TABLE, _TABLE)
_CREATE_TABLE = CatalogNeed(Action.CREATE_TABLE, _TABLE)
_DELETE_TABLE = CatalogNeed(Action.DELETE_TABLE, _TABLE)
_READ_ANY_TABLE = (
    _READ_TABLE,
    CatalogNeed(Action.LIST_OBJECTS, _REPOSITORY, "for a table of `system`"),
)
_COMMIT = (
    CatalogNeed(Action.UPDATE_TABLE, _TABLE, "for each table that it changes"),
    CatalogNeed(Action.CREATE_TABLE, _TABLE, "for each table that it creates"),
)

# By the names of the operations.
NEEDS: Mapping[str, Sequence[CatalogNeed]] = {
    "listNamespaces": (
        CatalogNeed(Action.LIST_NAMESPACES, _NAMESPACE, "for those of a namespace"),
        CatalogNeed(Action.LIST_NAMESPACES, _ROOT, "for those of a ref"),
        CatalogNeed(Action.LIST_BRANCHES, _REPOSITORY, "for the branches of a repository"),
        CatalogNeed(Action.LIST_REPOSITORIES, _REPOSITORY, "for each repository that it lists"),
    ),
    "createNamespace": (CatalogNeed(Action.CREATE_NAMESPACE, _NAMESPACE),),
    "loadNamespaceMetadata": _GET_NAMESPACE,
    "namespaceExists": _GET_NAMESPACE,
    "dropNamespace": (CatalogNeed(Action.DELETE_NAMESPACE, _NAMESPACE),),
    "updateProperties": (CatalogNeed(Action.UPDATE_NAMESPACE, _NAMESPACE),),
    "listTables": (CatalogNeed(Action.LIST_TABLES, _NAMESPACE),),
    "createTable": (_CREATE_TABLE,),
    "loadTable": _READ_ANY_TABLE,
    "tableExists": _READ_ANY_TABLE,
    "updateTable": _COMMIT,
    "dropTable": (_DELETE_TABLE,),
    "loadCredentials": _READ_ANY_TABLE,
    "reportMetrics": (_READ_TABLE,),
    "registerTable": (
        _CREATE_TABLE,
        CatalogNeed(Action.UPDATE_TABLE, _TABLE, "if it replaces a table"),
        CatalogNeed(Action.IMPORT_FROM_STORAGE, namespace_arn("{uri}")),
    ),
    "renameTable": (_DELETE_TABLE, _READ_TABLE, _CREATE_TABLE),
    "commitTransaction": _COMMIT,
}
