"""`python -m tests.seeds`: write docs/statements.md."""

from tests.seeds.statements import PAGE, page

PAGE.write_text(page())
