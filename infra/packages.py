"""The archives that are deployed: the layer, the code of functions, the code of jobs.

`make layer` builds the layer, because it needs the package index. The others are copies of sources,
which each synth makes again. The same content gives the same bytes, so nothing unchanged is
deployed.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from infra.settings import SettingsError
from layers.graveler.archive import copy_sources, write_zip
from layers.graveler.build import OUTPUT, ROOT, is_current, layer_path


def layer(architecture: str) -> str:
    """Return the path of the layer's archive.

    Raises:
        SettingsError: the layer was not built, or was built from other sources.
    """
    path = layer_path(architecture)
    if not path.is_file():
        raise SettingsError(f"{path} is missing: build it with `make layer`")
    if not is_current(path):
        raise SettingsError(f"{path} was built from other sources: rebuild it with `make layer`")
    return str(path)


def function_code(name: str) -> str:
    """Return the path of the archive with a function's code; the engine is in the layer."""
    sources = ("functions/__init__.py", "functions/telemetry.py", f"functions/{name}")
    return _archive(f"function-{name}", sources)


def jobs_code() -> str:
    """Return the path of the archive with the engine and all jobs, laid out like a wheel.

    It is put on Spark's module path and not installed with pip: CDK names uploads by their content,
    and pip refuses a wheel with such a name.
    """
    return _archive("jobs", ("graveler", "glue_jobs"))


def job_script(name: str) -> str:
    """Return the path of a job's script."""
    return str(ROOT / "glue_jobs" / name / "job.py")


def jobs_requirements() -> str:
    """Return the path of the requirements, with hashes, that pip installs before a job starts."""
    return str(Path(__file__).with_name("jobs-requirements.txt"))


def _archive(name: str, sources: Iterable[str]) -> str:
    path = OUTPUT / f"graveler-{name}.zip"
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            copy_sources(ROOT / source, Path(folder) / source)
        write_zip(Path(folder), path)
    return str(path)
