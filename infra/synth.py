"""Synthesizes without CDK's command line: `python -m infra.synth dev name=value …` (make synth)."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The oldest release of Node.js that CDK supports: November 2026, "Node.js version support" of CDK.
_NODE_MIN = 22


def context(stage: str, given: Mapping[str, str]) -> dict[str, object]:
    """Return the context that `cdk -c stage=… -c name=value` gives the app."""
    known: dict[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return {**known, **given, "stage": stage}


def _node_release() -> int | None:
    """Return the major number of this machine's Node.js; None if it has none."""
    node = shutil.which("node")
    if node is None:
        return None
    version = subprocess.run(  # noqa: S603 - what CDK is about to run itself
        [node, "--version"], capture_output=True, text=True, check=True
    )
    return int(version.stdout.removeprefix("v").partition(".")[0])


def main(arguments: Sequence[str], output: Path | None = None, *, portable: bool = False) -> int:
    """Write templates to the output, CDK_OUTDIR or build/cdk.out; return the exit code.

    Portable templates have parameters for the location of their archives, and need no CDK.
    """
    if not arguments or any("=" not in each for each in arguments[1:]):
        command = "infra.dist" if portable else "infra.synth"
        sys.stderr.write(f"usage: python -m {command} STAGE [NAME=VALUE …]\n")
        return 2
    release = _node_release()
    if release is None:
        sys.stderr.write("node is missing, and CDK runs on it: install Node.js 22 or newer\n")
        return 1
    if release < _NODE_MIN:
        sys.stderr.write(f"warning: CDK supports Node.js {_NODE_MIN} and newer, not {release}\n")
    stage, *pairs = arguments
    given = dict(pair.split("=", 1) for pair in pairs)
    output = output or Path(os.environ.get("CDK_OUTDIR", ROOT / "build" / "cdk.out"))
    # The line above replaces CDK's warning of eleven lines.
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", str(release))
    from infra import app  # noqa: PLC0415 - starts Node

    return app.main(context(stage, given), output, portable=portable)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
