"""What went wrong between a model and us, as a sentence for a person.

The text of a provider is not handed on: it may quote a key, a person, or a page of HTML. Its code
is, where it is one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic_ai import exceptions as library

from remit.agent.breaks import CutOff, Redirected, TooMuch
from remit.errors import ModelFailed, ModelInvalid, ModelRefused, ModelUnavailable

_LATER = "Send a message to go on, in a moment."
_TOO_MUCH = ("schema is too complex", "compiled grammar is too large", "complexity limits")
_is_code = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}").fullmatch


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of trouble; ``{code}`` is what the provider calls it, in brackets."""

    failure: type[ModelFailed]
    message: str
    passing: bool = False


# The first that fits, so that the narrower stand first.
_KINDS: tuple[tuple[type[Exception], _Kind], ...] = (
    (
        library.ModelAuthenticationError,
        _Kind(
            ModelUnavailable,
            "The model's server does not accept the key, or does not let it use this model"
            "{code}. Check REMIT_MODEL_API_KEY.",
        ),
    ),
    (
        library.ModelNotFoundError,
        _Kind(
            ModelUnavailable,
            "The model's server knows no such model{code}. Check REMIT_MODEL_NAME and"
            " REMIT_MODEL_BASE_URL.",
        ),
    ),
    (
        library.ModelContextWindowExceededError,
        _Kind(
            ModelRefused,
            "The conversation has become too long for the model. Begin a new session, or use a"
            " model that reads more.",
        ),
    ),
    (
        library.ModelQuotaExceededError,
        _Kind(
            ModelUnavailable,
            "The account at the model's provider has nothing left{code}. Look at its quota and its"
            " billing.",
        ),
    ),
    (
        library.ModelRateLimitError,
        _Kind(
            ModelUnavailable,
            f"The model is asked more often than its provider allows{{code}}. {_LATER}",
            passing=True,
        ),
    ),
    (
        library.ModelUnavailableError,
        _Kind(
            ModelUnavailable,
            f"The model's server has no room at the moment{{code}}. {_LATER}",
            passing=True,
        ),
    ),
    (
        library.ModelServerError,
        _Kind(
            ModelUnavailable,
            f"The model's server failed{{code}}. {_LATER}",
            passing=True,
        ),
    ),
    (
        library.ModelRequestRejectedError,
        _Kind(
            ModelRefused,
            "The model's server refuses the request{code}. Try another model, or look at what the"
            " provider logs of it.",
        ),
    ),
    (
        library.ModelTimeoutError,
        _Kind(
            ModelUnavailable,
            f"The model's server says nothing. {_LATER}",
            passing=True,
        ),
    ),
    (
        library.ContentFilterError,
        _Kind(
            ModelRefused,
            "The model declines to answer this. Ask it in other words.",
        ),
    ),
    (
        library.ModelAPIError,
        _Kind(
            ModelInvalid,
            f"The model's server answers with something else than an answer{{code}}. {_LATER}",
            passing=True,
        ),
    ),
    (
        library.UnexpectedModelBehavior,
        _Kind(
            ModelInvalid,
            f"The model's answer cannot be read. {_LATER}",
            passing=True,
        ),
    ),
)


def is_strict_too_much(error: Exception) -> bool:
    """Whether a request was refused because its strict schemas are too much together.

    Anthropic bounds the grammar that it compiles of them and does not say where the bound is.
    """
    text = str(error).lower()
    return isinstance(error, library.ModelAPIError) and any(one in text for one in _TOO_MUCH)


def failed(error: Exception, text: str) -> ModelFailed:
    """The failure that an error of the library, or of an SDK below it, is.

    Args:
        error: as it came out.
        text: what had been said by then.
    """
    own = _own(error, text)
    if own is not None:
        return own
    for type_, kind in _KINDS:
        if isinstance(error, type_):
            message = kind.message.format(code=_code(error))
            return kind.failure(message, passing=kind.passing, text=text)
    message = (
        f"The model's answer cannot be read ({type(error).__name__}). Send a message to try it"
        " again."
    )
    return ModelInvalid(message, passing=True, text=text)


def _own(error: Exception, text: str) -> ModelFailed | None:
    """The failure where we broke the stream ourselves, or where no connection was made."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, CutOff):
            return unfinished(text)
        if isinstance(below, TooMuch):
            return too_long("does not end", text)
        if isinstance(below, Redirected):
            message = (
                "The model's server sends us elsewhere, where the key is not taken. Set"
                " REMIT_MODEL_BASE_URL to the address that it names."
            )
            return ModelUnavailable(message, text=text)
        below = below.__cause__
    if isinstance(error, library.ModelConnectionError):
        if error.phase in {"connect", "pool"}:
            message = (
                "The model's server cannot be reached. Check REMIT_MODEL_BASE_URL and the network,"
                " then send a message to go on."
            )
            return ModelUnavailable(message, passing=True, text=text)
        if not isinstance(error, library.ModelTimeoutError):
            return unfinished(text)
    return None


def _code(error: Exception) -> str:
    """Status and code of an error in brackets; nothing where there is neither."""
    words: list[str] = []
    if isinstance(error, library.ModelHTTPError):
        words.append(f"HTTP {error.status_code}")
    if isinstance(error, library.ModelAPIError):
        code = error.provider_error_code or error.provider_error_type
        if code is not None and _is_code(code):
            words.append(code)
    return f" ({', '.join(words)})" if words else ""


def unfinished(text: str) -> ModelFailed:
    """The stream ended before the answer did."""
    message = f"The model's answer broke off. {_LATER}"
    return ModelUnavailable(message, passing=True, text=text)


def timed_out(total_s: float, text: str) -> ModelFailed:
    """The whole request took too long."""
    message = f"The model had no whole answer after {total_s:g} seconds. {_LATER}"
    return ModelUnavailable(message, passing=True, text=text)


def refused(text: str) -> ModelFailed:
    """The provider filtered the answer, or the model declined."""
    message = "The model declines to answer this. Ask it in other words."
    return ModelRefused(message, text=text)


def cut_off(text: str) -> ModelFailed:
    """The answer reached the length that the provider allows."""
    message = (
        "The model's answer is longer than its provider lets it be. Ask for less at once, or in"
        " parts."
    )
    return ModelInvalid(message, text=text)


def empty() -> ModelFailed:
    """No text and no call."""
    message = f"The model answered with nothing. {_LATER}"
    return ModelInvalid(message, passing=True)


def too_long(what: str, text: str) -> ModelFailed:
    """It is more than we read; ``what`` goes on after "The model's answer"."""
    message = f"The model's answer {what}, and was stopped there. Ask for less at once."
    return ModelInvalid(message, text=text)
