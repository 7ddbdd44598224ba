"""A reader's session: one bash that does the steps of a page in a fresh folder."""

import os
import re
import shlex
import signal
import subprocess
import sys
import venv
from contextlib import suppress
from pathlib import Path

from tests.guides.pages import PageError, Step, require_installed, require_shown
from tests.support.servers.stack import Stack

TIMEOUT_S = 900
_ENDS = "--- step ends with"


def variables(stack: Stack) -> dict[str, str]:
    """Return what the stack prints for the shells of its users."""
    keys = stack.access_key_id, stack.secret_access_key
    return {
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": keys[0],
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": keys[1],
        "AWS_ENDPOINT_URL": stack.endpoint,
        "AWS_ACCESS_KEY_ID": keys[0],
        "AWS_SECRET_ACCESS_KEY": keys[1],
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def run(steps: list[Step], folder: Path, given: dict[str, str], *, installs: bool) -> None:
    """Do all steps; raises PageError at the first one that does not do what its page shows.

    `installs` gives the page a virtual environment of its own, for its `pip install`.
    """
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    if installs:
        venv.create(folder / "venv", with_pip=True)
        programs.insert(0, str(folder / "venv" / "bin"))
    else:
        for step in steps:
            require_installed(step)
        steps = [step for step in steps if not step.requirements]
    own = re.compile("GRAVELER_|LAKECTL_|AWS_")
    environment = {name: text for name, text in os.environ.items() if not own.match(name)}
    environment |= given | {"PATH": ":".join(programs), "TZ": "UTC"}
    for step, (printed, code) in zip(steps, _outputs(steps, folder, environment), strict=False):
        if code:
            require_shown(step, printed)
        if code == "" or (code != "0") != step.fails:
            ends = f"ends with {code}" if code else "does not end"
            raise PageError(f"{step.line}: {step.command}\n{ends}, and prints\n{printed}")


def _outputs(steps: list[Step], folder: Path, environment: dict[str, str]) -> list[tuple[str, str]]:
    """Return what the steps print and their exit codes, up to the first one that is not expected.

    The code is empty if a step has none, because it takes too long or ends the shell.
    """
    home = folder / "home"
    home.mkdir(exist_ok=True)
    script = ["set -o pipefail"]
    for number, step in enumerate(steps):
        file = folder / f"{number}.sh"
        file.write_text(step.command + "\n")
        failed = "&&" if step.fails else "||"
        script += [
            f". {shlex.quote(str(file))} </dev/null; code=$?; echo; echo '{_ENDS}' $code",
            f"[ $code = 0 ] {failed} exit",
        ]
    with (folder / "printed").open("w+", newline="") as printed:
        shell = subprocess.Popen(
            ["bash", "-c", "\n".join(script)],
            cwd=home,
            env=environment | {"HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with suppress(subprocess.TimeoutExpired):
            shell.wait(TIMEOUT_S)
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)  # and what the page left running
        printed.seek(0)
        text = printed.read().replace(str(home), "~")
    *parts, rest = re.split(rf"\n{_ENDS} (\d+)\n", text)
    return [*zip(parts[::2], parts[1::2], strict=True), (rest, "")]
