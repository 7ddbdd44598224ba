"""The table of operations: Iceberg's REST specification names their methods and paths."""

from collections.abc import Sequence
from typing import NamedTuple

from graveler_functions.iceberg.request import Route
from graveler_functions.iceberg.routes import commits, namespaces, tables


class Operation(NamedTuple):
    method: str
    path: str
    name: str
    route: Route

    @property
    def endpoint(self) -> str:
        """The operation as the answer to `config` names it."""
        path = self.path.replace("<", "{").replace(">", "}")
        return f"{self.method} /v1/{{prefix}}/{path}"


_NAMESPACES = "namespaces"
_NAMESPACE = f"{_NAMESPACES}/<namespace>"
_TABLES = f"{_NAMESPACE}/tables"
_TABLE = f"{_TABLES}/<table>"

OPERATIONS: Sequence[Operation] = (
    Operation("GET", _NAMESPACES, "listNamespaces", namespaces.list_namespaces),
    Operation("POST", _NAMESPACES, "createNamespace", namespaces.create_namespace),
    Operation("GET", _NAMESPACE, "loadNamespaceMetadata", namespaces.load_namespace),
    Operation("HEAD", _NAMESPACE, "namespaceExists", namespaces.has_namespace),
    Operation("DELETE", _NAMESPACE, "dropNamespace", namespaces.drop_namespace),
    Operation("POST", f"{_NAMESPACE}/properties", "updateProperties", namespaces.update_properties),
    Operation("GET", _TABLES, "listTables", tables.list_tables),
    Operation("POST", _TABLES, "createTable", tables.create_table),
    Operation("GET", _TABLE, "loadTable", tables.load_table),
    Operation("HEAD", _TABLE, "tableExists", tables.has_table),
    Operation("POST", _TABLE, "updateTable", commits.commit_table),
    Operation("DELETE", _TABLE, "dropTable", tables.drop_table),
    Operation("GET", f"{_TABLE}/credentials", "loadCredentials", tables.load_credentials),
    Operation("POST", f"{_TABLE}/metrics", "reportMetrics", tables.report_metrics),
    Operation("POST", f"{_NAMESPACE}/register", "registerTable", tables.register_table),
    Operation("POST", "tables/rename", "renameTable", tables.rename_table),
    Operation("POST", "transactions/commit", "commitTransaction", commits.commit_transaction),
)
