"""Synthesizes many deployments in one process: CDK takes ten seconds to start, then three for each."""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen

from graveler_embedded.config import ROOT
from infra import packages
from layers.graveler import build


class Synthesizer:
    """Runs `infra.synth` and `infra.dist` in a process that starts when it is first needed."""

    def __init__(self, archives: Path) -> None:
        self._archives = archives
        self._process: Popen[str] | None = None

    def run(
        self,
        output: Path,
        stage: str,
        given: Mapping[str, str],
        *,
        program: str = "infra.synth",
        archives: Path | None = None,
    ) -> CompletedProcess[str]:
        """Run the program with these settings, over archives of other sources if they are given."""
        if self._process is None:
            self._process = Popen(
                [sys.executable, "-m", "tests.support.servers.synths"],
                cwd=ROOT,
                env={**os.environ, "GRAVELER_BUILD": str(self._archives)},
                stdin=PIPE,
                stdout=PIPE,
                text=True,
            )
        assert self._process.stdin
        assert self._process.stdout
        arguments = [stage, *(f"{name}={value}" for name, value in given.items())]
        request = (program, arguments, str(output), str(archives or self._archives))
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        code, errors = json.loads(self._process.stdout.readline())
        return CompletedProcess(arguments, code, stdout="", stderr=errors)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


@contextmanager
def synthesizer(archives: Path) -> Iterator[Synthesizer]:
    """Yield a synthesizer over the archives of this folder."""
    found = Synthesizer(archives)
    try:
        yield found
    finally:
        found.close()


def _serve() -> None:
    """Answer each line of the standard input with the exit code and the errors of a run."""
    # The sources do not change meanwhile.
    packages.function_code = cache(packages.function_code)
    # What the programs print is no answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        program, arguments, output, archives = json.loads(line)
        build.OUTPUT = Path(archives)
        with redirect_stderr(StringIO()) as errors:
            try:
                code = importlib.import_module(program).main(arguments, Path(output))
            except Exception:  # noqa: BLE001 - for the test to show
                traceback.print_exc()
                code = 1
        answers.write(f"{json.dumps([code, errors.getvalue()])}\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
