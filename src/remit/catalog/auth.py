"""How an app authenticates, as declared (contract section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast, get_args

from remit.catalog.headers import name_fault, value_is_sendable
from remit.catalog.model import Auth, AuthType
from remit.catalog.reading import Fields, shown
from remit.catalog.references import ENV_NAME
from remit.values.json import nearest
from remit.values.urls import Url, UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES: tuple[AuthType, ...] = get_args(AuthType)
_LISTED = ", ".join(_TYPES)
_KEYS: Mapping[AuthType, tuple[str, ...]] = {
    "none": (),
    "bearer": (),
    "basic": (),
    "identity": (),
    "apiKey": ("in", "name", "prefix"),
    "oauth2": ("authorizationUrl", "tokenUrl", "scopes", "clientId", "clientSecretEnv"),
}
_REQUIRED: Mapping[AuthType, tuple[str, ...]] = {
    "apiKey": ("in", "name"),
    "oauth2": ("authorizationUrl", "tokenUrl", "clientId"),
}

_MENDS: Mapping[str, str] = {
    "in": "say where the key goes: header or query",
    "name": "name the header or query parameter that carries the key",
    "authorizationUrl": "write the address where users sign in",
    "tokenUrl": "write the address that gives tokens",
    "clientId": "write the id under which the app knows Remit",
}


def read_auth(definition: Fields) -> Auth | None:
    """Read ``auth``; None, and mistakes noted, where it is missing or cannot be used."""
    if isinstance(written := definition.values.get("auth"), str):
        meant = nearest(written, _TYPES)
        definition.wrong(
            "wrong-type",
            "auth",
            '"auth" must be an object; it is text',
            f"write {{type: {meant}}}" if meant else f"write {{type: …}}, one of {_LISTED}",
        )
        return None
    record = definition.object("auth")
    if record is None:
        return None
    fields = Fields(record, "/auth", definition.mistakes)
    if "type" not in record:
        fields.missing("type", "auth", f"write one of {_LISTED}")
    text = fields.text("type")
    auth_type: AuthType | None = next((known for known in _TYPES if known == text), None)
    if auth_type is None:
        if text is not None:
            near = nearest(text, _TYPES)
            fields.wrong(
                "unknown-value",
                "type",
                f'"type" is "{shown(text)}", which is none of {_LISTED}',
                f'did you mean "{near}"?' if near else "write one of them",
            )
        return None
    before = len(definition.mistakes.found)
    fields.only(("type", *_KEYS[auth_type]), f"auth of type {auth_type}")
    for key in _REQUIRED.get(auth_type, ()):
        if key not in record:
            fields.missing(key, f"auth of type {auth_type}", _MENDS[key])
    auth = _read_details(fields, auth_type)
    return None if len(definition.mistakes.found) > before else auth


def _read_details(fields: Fields, auth_type: AuthType) -> Auth:
    if auth_type == "apiKey":
        location, name = _read_key_place(fields)
        prefix = fields.text("prefix") or ""
        return Auth(type=auth_type, location=location, name=name, prefix=prefix)
    if auth_type == "oauth2":
        return Auth(
            type=auth_type,
            authorization_url=_address(fields, "authorizationUrl"),
            token_url=_address(fields, "tokenUrl"),
            scopes=_scopes(fields),
            client_id=fields.text("clientId"),
            client_secret_env=_env_name(fields, "clientSecretEnv"),
        )
    return Auth(type=auth_type)


def _read_key_place(fields: Fields) -> tuple[Literal["header", "query"] | None, str | None]:
    location, name = fields.text("in"), fields.text("name")
    if location is not None and location not in ("header", "query"):
        fields.wrong(
            "unknown-value",
            "in",
            f'"in" is "{shown(location)}", which is none of header, query',
            "write header or query",
        )
    if name is not None and location == "header":
        # The credential may go out as Authorization; it is Remit that sends it.
        fault = name_fault(name, brand="Remit", authorization=True, credential=None)
        if name.lower() in ("accept", "content-type"):
            fault = "says what a request is; it cannot carry a credential"
        if fault is not None:
            fields.wrong(
                "bad-header",
                "name",
                f'"{shown(name)}" {fault}',
                "name a header of your own, such as X-Acme-Key",
            )
    if location == "header" and not value_is_sendable(fields.text("prefix") or ""):
        fields.wrong(
            "bad-header",
            "prefix",
            '"prefix" holds a character that no header can carry',
            "use visible ASCII and spaces, such as Token followed by a space",
        )
    if name == "":
        fields.wrong("wrong-type", "name", '"name" is empty', "name the header or parameter")
    place = cast("Literal['header', 'query'] | None", location)
    return place, name


def _env_name(fields: Fields, key: str) -> str | None:
    """The name of an env value, as ``${env.NAME}`` takes it."""
    name = fields.text(key)
    if name is None or ENV_NAME.fullmatch(name):
        return name
    fields.wrong(
        "bad-reference",
        key,
        f'"{shown(name)}" is no name of an env value',
        "use letters, digits and _, not beginning with a digit, such as OAUTH_SECRET",
    )
    return None


def _scopes(fields: Fields) -> tuple[str, ...]:
    items = fields.items("scopes") if "scopes" in fields.values else []
    scopes = tuple(scope for scope in items or () if isinstance(scope, str) and scope)
    if len(scopes) != len(items or ()):
        fields.wrong(
            "wrong-type", "scopes", '"scopes" must be a list of texts', "write each scope as a text"
        )
    return scopes


def _address(fields: Fields, key: str) -> Url | None:
    text = fields.text(key)
    if text is None:
        return None
    try:
        return parse_url(text)
    except UrlFault as fault:
        fields.wrong(
            "bad-url",
            key,
            f'"{key}": {fault.reason}',
            "write an address such as https://auth.example.com/token",
        )
        return None
