"""Lighthouse's scores of a page, on its slow phone and on a desktop, with the session of a user."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

CATEGORIES: Mapping[str, str] = {
    "performance": "performance",
    "accessibility": "accessibility",
    "best-practices": "best practices",
    "seo": "SEO",
}
DEVICES: Mapping[str, Sequence[str]] = {"phone": (), "desktop": ("--preset=desktop",)}
PACKAGES = Path(__file__).parent
_LIGHTHOUSE = PACKAGES / "node_modules" / "lighthouse" / "cli" / "index.js"
_FLAGS = "--headless --no-sandbox --disable-gpu"
# Of a page whose audits fail, this many are named.
_NAMED_MAX = 8
# Lighthouse sometimes fails to record a load, and asks to be run again.
_TRIES = 3


def install() -> None:
    """Install Lighthouse from the lock file beside this module, unless it is there."""
    if not _LIGHTHOUSE.exists():
        command = ["npm", "ci", "--prefix", str(PACKAGES), "--ignore-scripts", "--no-audit"]
        subprocess.run(command, check=True)


def judge(
    url: str, headers: Mapping[str, str], device: str, folder: Path, runs: int
) -> Mapping[str, float]:
    """Return the median score of each category of the page, 0 to 100; print what was found wanting.

    The reports are in the folder.
    """
    reports = [_report(url, headers, device, folder / f"{run}.json") for run in range(runs)]
    for line in sorted({line for report in reports for line in _wanting(report)})[:_NAMED_MAX]:
        print(f"    {line}", flush=True)
    return {
        shown: median(100 * report["categories"][name]["score"] for report in reports)
        for name, shown in CATEGORIES.items()
    }


def _report(url: str, headers: Mapping[str, str], device: str, target: Path) -> dict[str, Any]:
    target.parent.mkdir(parents=True, exist_ok=True)
    given = target.parent / "headers.json"  # not in the command, which every process can read
    given.write_text(json.dumps(headers))
    given.chmod(0o600)
    command = [
        *("node", str(_LIGHTHOUSE), url),
        *("--output=json", f"--output-path={target}", "--quiet"),
        *(f"--extra-headers={given}", f"--chrome-flags={_FLAGS}"),
        f"--only-categories={','.join(CATEGORIES)}",
        "--no-enable-error-reporting",
        *DEVICES[device],
    ]
    browser = shutil.which("chromium")
    if browser is None:
        raise RuntimeError("chromium is missing: run `apt-get install chromium`")
    for left in reversed(range(_TRIES)):
        done = subprocess.run(command, check=not left, env={**os.environ, "CHROME_PATH": browser})
        if done.returncode == 0:
            break
    report: dict[str, Any] = json.loads(target.read_text())
    if error := report.get("runtimeError"):
        raise RuntimeError(f"Lighthouse could not judge {url}: {error['message']}")
    if report["finalDisplayedUrl"] != url:
        raise RuntimeError(f"{url} led to {report['finalDisplayedUrl']}")
    return report


def _wanting(report: Mapping[str, Any]) -> Sequence[str]:
    """Return the audits that cost points."""
    return [
        f"{name}: {audit['title']}: {audit['score']:.2f} {audit.get('displayValue', '')}"
        for category in CATEGORIES
        for reference in report["categories"][category]["auditRefs"]
        if reference["weight"]
        for name, audit in [(reference["id"], report["audits"][reference["id"]])]
        if audit["score"] is not None and audit["score"] < 0.9
    ]
