"""What is said of a function that cannot be a handler, when its module is imported."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from remit.kit import Call
from remit.kit.django import handler as django_handler
from remit.kit.flask import handler as flask_handler
from remit.kit.starlette import handler as starlette_handler

if TYPE_CHECKING:
    from somewhere import Unknown

HANDLERS: list[Any] = [starlette_handler, flask_handler, django_handler]


class Note(BaseModel):
    """An input."""

    text: str


def plain(note: dict[str, str], call: Call) -> str:
    """Takes no model."""
    return str((note, call))


def unannotated(note, call):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Takes what nobody knows."""
    return str((note, call))


def empty() -> str:
    """Takes nothing."""
    return ""


def for_types_alone(note: Unknown, call: Call) -> str:
    """Takes a model that is not there when it runs."""
    return str((note, call))


@pytest.mark.parametrize("handler", HANDLERS, ids=["starlette", "flask", "django"])
@pytest.mark.parametrize(
    ("function", "words"),
    [
        pytest.param(plain, "plain: its first parameter must be annotated", id="no model"),
        pytest.param(unannotated, "unannotated: its first", id="no annotation"),
        pytest.param(empty, "empty: its first parameter", id="no parameter"),
        pytest.param(for_types_alone, "'Unknown' is not defined", id="a model for types alone"),
        pytest.param(Note, "Note: its first parameter", id="a class"),
    ],
)
def test_a_function_without_a_model_is_said_at_once(
    handler: Any,  # noqa: ANN401
    function: Any,  # noqa: ANN401
    words: str,
) -> None:
    """Not at the first call."""
    with pytest.raises(TypeError, match=words):
        handler(function)


@pytest.mark.parametrize("handler", HANDLERS, ids=["starlette", "flask", "django"])
def test_only_the_inputs_model_has_to_be_there_at_run_time(handler: Any) -> None:  # noqa: ANN401
    """Linters move imports that are for types alone."""

    def note(note: Note, call: Unknown) -> Unknown:
        """Writes a note."""
        return typing.cast("Unknown", (note, call))

    endpoint = handler(note)

    assert (endpoint.__name__, endpoint.__doc__) == ("note", "Writes a note.")
    assert not hasattr(endpoint, "__wrapped__") or handler is django_handler
