"""The JSON Schema of a policy, for editors and other programs (contract section 13).

It stands in ``schemas/`` as a person reads it. Whatever it refuses, ``load_policy`` refuses too;
tests/policy/test_schemas.py holds that.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, cast

from remit.documents.strict_json import parse_json

if TYPE_CHECKING:
    from remit.values.json import JsonObject


def policy_schema() -> JsonObject:
    """The schema: JSON Schema 2020-12, complete in itself."""
    text = files("remit.policy").joinpath("schemas", "policy.schema.json").read_text("utf-8")
    return cast("JsonObject", parse_json(text, max_depth=64))
