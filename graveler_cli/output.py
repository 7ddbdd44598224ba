"""The output of commands: for people on a terminal, for scripts without one, or as JSON.

lakectl's rules: without a terminal, a table is its cells between tabs, without heads, and nothing
has a color. LAKECTL_INTERACTIVE says whether there is a terminal. With --json, a command prints
one object, or one a line.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Literal, TypeVar

import click
import msgspec

from graveler_cli.errors import CommandError

if TYPE_CHECKING:
    from graveler_cli.schemas import ResultPage

T = TypeVar("T")

Color = Literal["red", "yellow", "green", "blue"]

_UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")
_FALSE = {"0", "f", "F", "false", "FALSE", "False"}
_BRIGHT = {"red": 91, "green": 92, "yellow": 93, "blue": 94}
_BOLD = 1
# Cells up to this width, such as times, stay on one line of a table.
_LINE_WIDTH = 30
_GAP = 2  # between columns without a frame
_CONSENT = {"y", "yes"}
# Control characters in names and messages could move the cursor, or worse. Tabs and line ends may
# stay, and the colors of lines that may have some.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LAST_CONTROLS = re.compile(r"[\x7f-\x9f]")
# The colors of `paint` only: other ones could hide the text that follows.
_STEERING_BUT_COLORS = re.compile(rf"(?!\x1b\[(?:(?:[01]|9[1-4]);?)+m){_STEERING.pattern}")


@dataclass
class CommandOutput:
    """Prints results on standard output: for people, for scripts, or as JSON."""

    as_json: bool = False
    has_color: bool = True
    _stream: IO[str] | None = None  # the pager, while there is one

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads standard output; LAKECTL_INTERACTIVE overrides the check."""
        if self.as_json:
            return False
        choice = os.environ.get("LAKECTL_INTERACTIVE")
        return choice not in _FALSE if choice else sys.stdout.isatty()

    @property
    def width(self) -> int:
        """The width of the terminal."""
        return shutil.get_terminal_size().columns

    def line(self, text: str = "") -> None:
        """Print a line for people; with --json, nothing."""
        if not self.as_json:
            # `paint` colors on terminals only; a terminal may show an output file later.
            click.echo(harmless(text, colors=self.is_terminal), self._stream, color=True)

    def json(self, value: object) -> None:
        """Print one object as JSON on one line."""
        # JSON does not escape DEL and the C1 controls, some of which control terminals.
        text = msgspec.json.encode(value).decode()
        click.echo(_LAST_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))

    def item(self, value: T, lines: Callable[[T], Iterable[str]]) -> None:
        """Print an object: as JSON, or as these lines."""
        if self.as_json:
            self.json(value)
            return
        for line in lines(value):
            self.line(line)

    def items(self, values: Iterable[T], lines: Callable[[T], Iterable[str]]) -> int:
        """Print objects as they arrive: as JSON, one a line, or each as these lines; count them."""
        count = 0
        for count, value in enumerate(values, 1):  # noqa: B007 - the last number is the count
            self.item(value, lines)
        return count

    def table(
        self,
        heads: Sequence[str],
        values: Iterable[T],
        cells: Callable[[T], Sequence[object]],
        expendable: Sequence[str] = (),
    ) -> None:
        """Print objects as a table, without a terminal as cells between tabs, or as JSON.

        Args:
            heads: the names of the columns.
            values: the objects.
            cells: returns the cells of an object.
            expendable: the heads that a narrow terminal loses first, before those at the right.
        """
        if self.as_json:
            for value in values:
                self.json(value)
        elif self.is_terminal:
            rows = [[str(cell) for cell in cells(value)] for value in values]
            self._draw(heads, rows, expendable)
        else:
            for value in values:
                self.line("\t".join(str(cell) for cell in cells(value)))

    def listing(
        self,
        heads: Sequence[str],
        found: "ResultPage[T]",
        cells: Callable[[T], Sequence[object]],
        amount: int,
        expendable: Sequence[str] = (),
    ) -> None:
        """Print a page of objects as a table; on a terminal, say how to get the next page.

        An empty line ends it, as lakectl's scripts expect.
        """
        self.table(heads, found.results, cells, expendable)
        if found.pagination.has_more:
            self.more(amount, found.pagination.next_offset)
        self.line()

    def more(self, amount: int, after: str) -> None:
        """On a terminal, print how to get the next page of a listing."""
        if self.is_terminal and amount > 0:
            command = self.paint(f'--amount {amount} --after "{after}"', "yellow")
            self.line(f"for more results run with {command}")

    def paint(self, text: str, color: Color | None = None, *, bold: bool = False) -> str:
        """Return the text, in a color on a terminal."""
        codes = [*([_BRIGHT[color]] if color else []), *([_BOLD] if bold else [])]
        plain = not self.has_color or "NO_COLOR" in os.environ
        if plain or not codes or not self.is_terminal:
            return text
        return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m"

    def time(self, text: str | None) -> str:
        """Return a time of the API: for people on a terminal, else in lakectl's form."""
        if not self.is_terminal:
            return go_time(text)
        # Go's zero time is in the year 1.
        if text is None or text.startswith("0001-"):
            return "-"
        return local_time(int(datetime.fromisoformat(text).timestamp()))

    def warn(self, text: str) -> None:
        """Print a line on standard error."""
        click.echo(harmless(text), err=True)

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask for consent, unless it was given by --yes.

        Raises:
            CommandError: the user did not consent.
        """
        if yes:
            return
        # Typer's own question would print a space on standard output.
        click.echo(f"{question} [y/N]: ", err=True, nl=False)
        answer = sys.stdin.readline()
        # A terminal shows the line end that a person types; a pipe shows nothing.
        if not answer.endswith("\n") or not sys.stdin.isatty():
            click.echo(err=True)
        if answer.strip().lower() not in _CONSENT:
            raise CommandError("aborted: nothing was done (--yes says yes to all questions)")

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Send the block's output through $PAGER, if there is a terminal."""
        command = os.environ.get("PAGER", "less").strip()
        if not self.is_terminal or not command or not shutil.which(command.split()[0]):
            yield
            return
        # As in git: less ends at once if all fits on the screen, and keeps colors.
        environment = {"LESS": "FRX", **os.environ}
        with subprocess.Popen(  # noqa: S602 - $PAGER is the user's own command
            command, shell=True, stdin=subprocess.PIPE, env=environment, text=True
        ) as pager:
            assert pager.stdin is not None
            self._stream = pager.stdin
            try:
                yield
            except BrokenPipeError:
                pass  # the user has left the pager
            finally:
                self._stream = None
                with suppress(BrokenPipeError):
                    pager.stdin.close()
                _wait_for(pager)

    def _draw(
        self, heads: Sequence[str], rows: Sequence[Sequence[str]], expendable: Sequence[str]
    ) -> None:
        """Draw a table as wide as the terminal; IDs stay whole.

        A terminal that is too narrow gets no frame, then long sentences in several lines, then
        fewer columns. The first column always stays.
        """
        # Imported late, because only terminals need it.
        from rich import box  # noqa: PLC0415
        from rich.cells import cell_len  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        texts = [[Text.from_ansi(harmless(cell, colors=True)) for cell in row] for row in rows]
        console = Console(file=self._stream, force_terminal=True, highlight=False)
        columns = [[head, *(row[at].plain for row in texts)] for at, head in enumerate(heads)]
        widest = [max(map(cell_len, cells)) for cells in columns]
        words = [max(map(cell_len, [head, *" ".join(cells).split()])) for head, *cells in columns]
        least = [
            max(word, min(all_, _LINE_WIDTH)) for word, all_ in zip(words, widest, strict=True)
        ]
        shown = [*range(len(heads))]
        lost = [*map(heads.index, expendable)]
        lost += [at for at in reversed(shown[1:]) if at not in lost]
        if sum(widest) + 3 * len(heads) + 1 <= console.width:
            drawn = Table(box=box.ASCII2, header_style="")
            spare = sum(widest)
        else:
            drawn = Table(box=None, header_style="", padding=(0, _GAP, 0, 0), pad_edge=False)
            while (spare := console.width - sum(least[at] + _GAP for at in shown) + _GAP) < 0:
                if len(shown) == 1:
                    break
                shown.remove(lost.pop(0))
        for at in shown:
            more = max(min(spare, widest[at] - least[at]), 0)
            spare -= more
            drawn.add_column(heads[at].upper(), width=least[at] + more)
        console.width = max(console.width, least[0])
        for row in texts:
            drawn.add_row(*(row[at] for at in shown))
        console.print(drawn)
        if len(shown) < len(heads):
            left = ", ".join(head.upper() for at, head in enumerate(heads) if at not in shown)
            self.line(f"not shown: {left} (--json has it all)")


def harmless(text: str, *, colors: bool = False) -> str:
    """Return the text with control characters written out; colors may stay."""
    pattern = _STEERING_BUT_COLORS if colors else _STEERING
    return pattern.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _wait_for(pager: "subprocess.Popen[str]") -> None:
    """Wait until the pager ends; less survives Ctrl-C, as under git."""
    while pager.returncode is None:
        with suppress(KeyboardInterrupt):
            pager.wait()


def fields(pairs: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield a line `Label: value` for each pair."""
    for label, value in pairs:
        yield f"{label}: {value}" if value != "" else f"{label}:"


def local_time(unix_s: int) -> str:
    """Return a time in the local time zone, in lakectl's form: 2024-08-02 10:13:33 -0400 EDT."""
    return datetime.fromtimestamp(unix_s, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S %z %Z")


def go_time(text: str | None) -> str:
    """Return a time of the API in lakectl's form: 2024-08-02 10:13:33.5 +0000 UTC, or <nil>."""
    if text is None:
        return "<nil>"
    date, _, rest = text.partition("T")
    clock, offset = (rest[:-1], "+0000 UTC") if rest.endswith("Z") else (rest[:-6], rest[-6:])
    if "." in clock:
        clock = clock.rstrip("0").rstrip(".")
    return f"{date} {clock} {offset}"


def human_size(size_bytes: int) -> str:
    """Return a size in lakectl's form, in powers of 1,000: 916.4 kB."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    power = 1
    while size_bytes >= 1000 ** (power + 1) and power < len(_UNITS):
        power += 1
    return f"{size_bytes / 1000**power:.1f} {_UNITS[power - 1]}"


@contextmanager
def progress(title: str, *, hidden: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, drawn once a second; yield a function that updates it.

    The function takes the amount done and the total, 0 if unknown. Without a terminal, nothing is
    shown.
    """
    # Imported late, because only commands that wait need it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        refresh_per_second=1,
        transient=True,
        disable=hidden or not console.is_terminal,
    )
    task = bar.add_task(title, total=None)
    with bar:
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
