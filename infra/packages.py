"""The archives that are deployed: the layer, the code of functions, the jobs.

`make layer` builds the layer and the archive of the jobs, because they need the package index.
Every synth builds the others, which contain only sources. Equal content gives equal bytes, so
unchanged archives are not deployed again.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from infra.settings import SettingsError
from layers import build
from layers.gateway import build as gateway
from layers.graveler import build as layers
from layers.graveler.archive import compile_sources, copy_sources, find_compiler, write_zip
from layers.jobs import build as jobs

# What each function's archive has besides its own modules.
_OF_OTHERS = (
    "graveler_functions/__init__.py",
    "graveler_functions/cold_start.py",
    "graveler_functions/task_messages.py",
    "graveler_functions/telemetry.py",
)
_OF_HTTP = "graveler_functions/http"
_BEHIND_HTTP = frozenset({"api", "iceberg"})
_WEB = "web"
_OF_WEB = (
    "graveler_functions/__init__.py",
    "graveler/__init__.py",
    "graveler/http/__init__.py",
    "graveler/http/s3_requests.py",
)
_PAGE = "graveler_functions/web/page"

# Lambda unpacks a function's code there.
_INSTALLED_AT = "/var/task"


def layer(architecture: str, *, compiled: bool) -> str:
    """Return the path of the layer's archive.

    Args:
        architecture: Lambda's name of it.
        compiled: refuse a layer without bytecode; else only warn.

    Raises:
        SettingsError: the layer was not built, was built from other sources, or has no bytecode.
    """
    path = _current(layers.layer_path(architecture), layers.is_current)
    if not build.is_compiled(path):
        problem = (
            f"{path} has no bytecode, so every cold start would compile the engine: install "
            f"python{layers.PYTHON}, on the path or by pyenv or uv, and build it with `make layer`"
        )
        if compiled:
            raise SettingsError(f"{problem}; stage prod needs it")
        sys.stderr.write(f"warning: {problem}\n")
    return str(path)


def function_code(name: str) -> str:
    """Return the path of the archive with a function's code; the engine is in the layer.

    The web page's archive needs no layer, and includes the page's files. An archive contains
    bytecode if this machine has the functions' Python.
    """
    path = layers.OUTPUT / f"graveler-function-{name}.zip"
    compiler = _compiler()
    with tempfile.TemporaryDirectory() as folder:
        shared = _OF_WEB if name == _WEB else _OF_OTHERS
        of_http = (_OF_HTTP,) if name in _BEHIND_HTTP else ()
        for source in (*shared, *of_http, f"graveler_functions/{name}"):
            copy_sources(layers.ROOT / source, Path(folder) / source)
        if name == _WEB:
            shutil.copytree(layers.ROOT / _PAGE, Path(folder) / _PAGE, dirs_exist_ok=True)
        if compiler is not None:
            compile_sources(Path(folder), _INSTALLED_AT, compiler)
        write_zip(Path(folder), path)
    return str(path)


def gateway_folder() -> str:
    """Return the path of the folder from which Docker builds the gateway's image for CDK."""
    folder = gateway.folder_path()
    gateway.write_folder(folder)
    return str(folder)


def jobs_code() -> str:
    """Return the path of the archive of all jobs.

    Raises:
        SettingsError: it was not built, or was built from other sources.
    """
    return str(_current(jobs.jobs_path(), jobs.is_current))


def job_script(name: str) -> str:
    """Return the path of a job's script."""
    return str(layers.ROOT / "graveler_jobs" / name / "job.py")


@lru_cache(maxsize=1)
def _compiler() -> str | None:
    """Return the functions' Python, if this machine has it; warn once if not."""
    found = find_compiler(layers.PYTHON)
    if found is None:
        sys.stderr.write(f"warning: the functions' code gets no bytecode: {build.NO_COMPILER}\n")
    return found


def _current(path: Path, is_current: Callable[[Path], bool]) -> Path:
    if not path.is_file():
        raise SettingsError(f"{path} is missing: build it with `make layer`")
    if not is_current(path):
        raise SettingsError(f"{path} was built from other sources: rebuild it with `make layer`")
    return path
