"""Names of models: ``openai:gpt-5``, ``anthropic:…``, ``google:…``."""

from __future__ import annotations

import re
from typing import Literal, get_args

from remit.errors import InvalidRequest

ProviderName = Literal["openai", "anthropic", "google"]

# A name goes into a URL with Google; names of other servers hold slashes and colons.
_is_model_name = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}").fullmatch


def parse_name(name: str) -> tuple[ProviderName, str]:
    """The provider, and the model as the provider names it.

    Raises:
        InvalidRequest: it is no name of a model.
    """
    prefix, colon, model_name = name.partition(":")
    for provider in get_args(ProviderName):
        if colon and prefix == provider and _is_model_name(model_name):
            return provider, model_name
    msg = (
        "A model's name reads openai:<model>, anthropic:<model> or google:<model>. Write it so,"
        " for example openai:gpt-5."
    )
    raise InvalidRequest(msg)
