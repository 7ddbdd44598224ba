"""A page that does something else than it shows is found, at its line."""

import pytest

from tests.guides.pages import PageError, require_installed, require_shown, steps
from tests.guides.sessions import run

PAGE = """
The file `a/b.sql`:

```sql
SELECT 'it''s';
```

```console
$ cd a
$ cat b.sql \\
    - <<'END'
> line
> END
SELECT 'it''s';
line
$ x=1
```

```pycon
>>> for each in (1, 2):
...     print(each)
1
2
```
"""


def page(*lines: str) -> str:
    return "\n".join(["```console", *lines, "```", ""])


def do(text: str, folder) -> None:
    run(steps(text), folder, {}, installs=False)


def test_a_page_is_read_as_steps_with_their_lines():
    written, entered, shown, assigned, session = steps(PAGE, 10)
    assert (written.line, entered.line, session.line) == (13, 18, 28)
    assert shown.command == "cat b.sql \\\n    - <<'END'\nline\nEND"
    assert shown.output == ["SELECT 'it''s';", "line"]
    assert (assigned.command, assigned.output) == ("x=1", [])
    assert session.output == ["1", "2"]


def test_a_block_in_a_list_is_read_without_its_indentation():
    (step,) = steps("1. Text\n\n   ```console\n   $ cat <<END\n   >  a\n   > END\n    a\n   ```\n")
    assert (step.line, step.command, step.output) == (4, "cat <<END\n a\nEND", [" a"])


def test_a_page_runs_in_one_shell_with_its_files(tmp_path):
    do(PAGE + page("$ echo $x $(basename $PWD)", "1 a", "$ cat b.sql", "SELECT 'it''s';"), tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["ID: 4fe4f7abbcfc at 2026-11-24 03:07:01 +0000 UTC"], "ID: 0123456789ab at 2027-01-02"),
        (["a", "...", "b"], "a\n1\n2\nb\n"),
        (["a", "...", "b"], "a\nb\n\n"),
        (["s3://b/lake/data/x/y", "http://127.0.0.1:8000"], "s3://c/data/z\nhttp://127.0.0.1:1"),
        (["in 20 ms"], "in  3.5s"),
        (["no: ... (it)"], "no: because of this (it)"),
        (["done"], "1 of 2\r2 of 2\rdone\n"),
    ],
)
def test_what_each_run_has_of_its_own_may_differ(shown, printed):
    (step,) = steps(page("$ x", *shown))
    require_shown(step, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["a"], "b"),
        (["a"], "a\nb"),
        (["a"], ""),
        (["a", "..."], "b\na"),
        (["12 files"], "13 files"),
        (["4fe4f7abbcf"], "0fe4f7abbcf"),
        (["a.c"], "abc"),
        (["no: ... (it)"], "no: because\nof this (it)"),
    ],
)
def test_other_output_is_found(shown, printed):
    (step,) = steps(page("$ x", *shown))
    with pytest.raises(PageError, match=r"2: x\nexpected:\n"):
        require_shown(step, printed)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["$ true", "$ false"], "3: false\nends with 1"),
        (["$ true # fails"], "2: true # fails\nends with 0"),
        (["$ exit"], "2: exit\ndoes not end"),
        (["$ echo a; false | cat", "b"], "2: .*\nexpected:\nb\ngot:\na"),
        (["$ false # fails", "$ echo a", "b"], "3: echo a\nexpected:\nb\ngot:\na"),
    ],
)
def test_a_wrong_step_is_found_at_its_line(tmp_path, lines, message):
    with pytest.raises(PageError, match=message):
        do(page(*lines), tmp_path)


def test_progress_that_a_terminal_overwrites_is_not_compared(tmp_path):
    do(page(r"$ printf '1 of 2\r2 of 2\rdone\n'", "done"), tmp_path)


def test_a_python_session_that_prints_something_else_is_found(tmp_path):
    with pytest.raises(PageError, match="expected:\n3\ngot:\n2"):
        do("```pycon\n>>> 1 + 1\n3\n```\n", tmp_path)


@pytest.mark.parametrize(
    "text",
    ["Text\n\n```python\n1\n```\n", "`a.py`\n\n```python\n1\n```\n", "`a`:\n\n```\n1\n```\n"],
)
def test_a_block_that_is_neither_run_nor_a_named_file_is_found(text):
    with pytest.raises(PageError, match=r"3: .*`name`:"):
        steps(text)


def test_a_console_block_without_a_prompt_is_found():
    with pytest.raises(PageError, match=r"^2: a console block begins with `\$ `$"):
        steps(page("ls"))


def test_output_that_a_page_does_not_show_is_not_compared(tmp_path):
    do(page("$ echo more", "$ echo x", "x"), tmp_path)


@pytest.mark.parametrize("package", ["no-such-package", "'pytest<1'"])
def test_a_package_that_the_environment_lacks_is_found(package):
    (step,) = steps(page(f"$ pip install pytest {package}"))
    with pytest.raises(PageError, match="2: pip install"):
        require_installed(step)
    (step,) = steps(page("$ pip install -q 'pytest>=8'"))
    require_installed(step)
