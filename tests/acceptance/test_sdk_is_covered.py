"""Every public method of the `lakefs` package is driven by the module of its class."""

import importlib
import inspect
import pkgutil
import re

import lakefs
import pytest

from tests.architecture.test_portability import ROOT

# Classes, and the modules of tests that drive them.
MODULES = {
    "Client": "test_sdk_client",
    "ServerConfiguration": "test_sdk_client",
    "ClientConfig": "test_sdk_client",
    "Repository": "test_sdk_repository",
    "Reference": "test_sdk_reference",
    "Tag": "test_sdk_tag",
    "_BaseBranch": "test_sdk_branch",
    "Branch": "test_sdk_branch",
    "_Transaction": "test_sdk_transaction",
    "StoredObject": "test_sdk_object",
    "WriteableObject": "test_sdk_object",
    "LakeFSIOBase": "test_sdk_reader",
    "ObjectReader": "test_sdk_reader",
    "ObjectWriter": "test_sdk_writer",
    "ImportManager": "test_sdk_import_manager",
}


def public_methods():
    """Return (class, method) of everything that the package defines for its users."""
    found = set()
    for module in pkgutil.iter_modules(lakefs.__path__):
        if module.name != "__main__":
            loaded = importlib.import_module(f"lakefs.{module.name}")
            for name, kind in vars(loaded).items():
                if inspect.isclass(kind) and kind.__module__ == loaded.__name__:
                    found |= {(name, method) for method in methods_of(kind)}
    return sorted(found)


def methods_of(kind):
    return [
        name
        for name, value in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    ]


@pytest.mark.parametrize(("kind", "method"), public_methods())
def test_a_public_method_is_driven(kind, method):
    text = (ROOT / "tests" / "acceptance" / f"{MODULES[kind]}.py").read_text()
    assert re.search(rf"\.{method}\b", text), f"{kind}.{method}"


def test_the_package_has_many_methods():
    assert len(public_methods()) > 80
