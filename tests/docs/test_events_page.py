"""The page of events says what the schema and the machine say."""

from __future__ import annotations

import json
import re
from typing import get_args

import jsonschema_rs

from remit.session.events import Status
from remit.session.machine import MOVES
from remit.session.schemas import event_schema
from tests.docs.console import blocks
from tests.docs.event_tables import STATUSES
from tests.docs.tables import REFERENCE

PAGE = REFERENCE / "events.md"


def test_event_that_the_page_shows_fits_the_schema() -> None:
    """What a reader sees first is what a reader gets."""
    validator = jsonschema_rs.Draft202012Validator(event_schema(), offline=True)
    shown = [block.text for block in blocks(PAGE) if block.language == "json"]
    assert shown
    for text in shown:
        validator.validate(json.loads(text))


def test_diagram_draws_every_move_and_no_other() -> None:
    """The diagram is the machine's own table."""
    (diagram,) = [block.text for block in blocks(PAGE) if block.language == "mermaid"]
    drawn = set(re.findall(r"^    (\w+) --> (\w+)$", diagram, flags=re.MULTILINE))
    assert drawn == {(before, after) for before in MOVES for after in MOVES[before]}
    assert list(STATUSES) == list(get_args(Status))


def test_links_within_the_page_lead_to_its_headings() -> None:
    """The types of keys are links."""
    text = PAGE.read_text("utf-8")
    headings = {name.lower().replace(" ", "-") for name in re.findall(r"^## (.+)$", text, re.M)}
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert len(links) > 20
    assert links <= headings
