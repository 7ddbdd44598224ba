"""docs/requests.md has the budgets that the operations keep."""

from tests.architecture.test_portability import ROOT
from tests.support.checks.budgets import BUDGETS, Budget


def row(budget: Budget) -> str:
    """Return the budget as a row of the page's table."""
    chain = budget.chain
    cells = [
        budget.operation,
        budget.dynamodb,
        sum(budget.s3.values()),
        f"{chain.dynamodb} + {chain.s3}",
        chain.far_ms,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def test_the_page_has_the_requests_of_each_operation():
    page = (ROOT / "docs" / "requests.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == list(map(row, BUDGETS))
