"""The token bill: of the catalog as offered, per tool, the dearest first."""

from __future__ import annotations

import subprocess
import sys

from remit.documents.canonical import compact_json
from remit.offer.bill import NOTE, bill
from remit.offer.export import export
from remit.offer.tokens import count_tokens
from remit.values.json import JsonObject
from tests.offer.apps import app, closed, record

TEXT: JsonObject = {"type": "string", "description": "A longer text about it."}
ACME = app(record("small"), record("large", closed("a", a=TEXT, b=TEXT)), record("alike"))


def test_bill_counts_what_is_offered() -> None:
    """Each function as compact JSON; the total is their sum (contract section 15)."""
    found = bill(ACME, ACME.tools)
    counted = {
        entry.tool: count_tokens(compact_json(entry.function))
        for entry in export(ACME, ACME.tools, "openai").tools
    }

    assert {cost.tool: cost.tokens for cost in found.tools} == counted
    assert found.total == sum(counted.values()) > 0
    assert found.tools[0].tool == "large"
    assert found.tools[0].name == "integration_large"
    assert [cost.tokens for cost in found.tools] == sorted(counted.values(), reverse=True)


def test_pinned_parameters_cost_nothing() -> None:
    """The bill is of what the model reads in this session, not of what was written."""
    assert bill(ACME, ACME.tools, pins={"a"}).total < bill(ACME, ACME.tools).total


def test_bill_reads_as_text_and_as_data() -> None:
    """Aligned lines, the sum, and how it was counted."""
    found = bill(ACME, ACME.tools, "gemini")
    lines = found.lines()

    assert len(lines) == 5
    assert lines[0].startswith("large ")
    assert lines[3].startswith("3 tools ")
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[4] == NOTE
    data = found.as_json()
    assert data["tokens"] == found.total
    assert data["tools"][0] == {  # type: ignore[index,call-overload]
        "tool": "large",
        "offeredAs": "integration_large",
        "tokens": found.tools[0].tokens,
    }


def test_bill_of_nothing_is_zero() -> None:
    """An app without tools costs nothing and still prints."""
    assert bill(ACME, ()).lines() == ("0 tools  0 tokens", NOTE)


def test_import_loads_no_tokenizer() -> None:
    """A lint without --bill must not pay for a vocabulary."""
    code = "import sys, remit.offer.bill; sys.exit('tiktoken' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
