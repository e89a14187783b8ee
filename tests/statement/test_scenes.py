"""The remit of the example app: the three questions of a stranger, from its text alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.catalog.definitions import load_definition
from remit.documents.load import parse_document
from remit.offer.bill import bill
from remit.policy.catalogs import effective_catalog
from remit.statement.remit import build
from remit.statement.rendering import as_text

SCENES = Path(__file__).parents[2] / "examples" / "scenes" / "scenes.yaml"


@pytest.mark.promise("T-03")
def test_the_text_answers_what_is_worst_who_gets_data_and_what_stops() -> None:
    """Issue 2, point 3: someone who does not know the app must be able to say it."""
    document = parse_document(SCENES.read_bytes(), name=SCENES.name)
    definition = load_definition(document).definition  # type: ignore[arg-type]
    assert definition is not None
    tokens = bill(definition, effective_catalog(definition, None).tools)

    text = " ".join(as_text(build(definition, bill=tokens)).split())

    assert "The worst is “Delete a scene” (delete_scene): destructive" in text
    assert "It stops and asks you every time." in text
    assert "The worst that runs without asking anybody is “Render a scene”" in text
    assert "http://127.0.0.1:8801, the app's own host. Unencrypted (http)" in text
    assert "an outside host" not in text
    assert "Remit sends nothing anywhere else" in text
    assert "nothing can lift that: - “Delete a scene”" in text
    assert "Nobody is asked before the other 8 tools" in text
    assert "By tool, the dearest first: - " in text
