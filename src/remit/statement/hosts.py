"""The section on hosts: which host receives which arguments, env values and credential."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.reach import EnvUse, OriginUse, env_uses_of, origins_of
from remit.policy.wording import quoted
from remit.statement.document import Block, Items, Paragraph, Section
from remit.statement.flows import sent_arguments
from remit.statement.subject import Subject, listed
from remit.values.urls import parse_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.catalog.model import Auth, Tool

_CREDENTIALS: Mapping[str, str] = {
    "none": "No credential of yours: the app declares none.",
    "bearer": "Your sign-in: a bearer token of yours, with every call.",
    "basic": "Your sign-in: a user name and password of yours, with every call.",
    "apiKey": "Your sign-in: an API key of yours, with every call.",
    "oauth2": "Your sign-in: an access token that you allow the app to use, with every call.",
    "identity": "Who you are: a signed token with your user id and workspace, with every call.",
}
_SIGN_INS: Mapping[str, str] = {
    "none": "no sign-in",
    "bearer": "your sign-in (a bearer token)",
    "basic": "your sign-in (a user name and password)",
    "apiKey": "your sign-in (an API key)",
    "oauth2": "your sign-in (OAuth)",
    "identity": "your user id (in a signed token)",
}
_MAX_NAMED = 5


def sign_in(auth: Auth) -> str:
    """What of the user is sent to the app's own host, as the subject of a sentence."""
    return _SIGN_INS[auth.type]


def hosts(subject: Subject) -> Section:
    """Which hosts receive what."""
    blocks: list[Block] = []
    uses = origins_of(subject.definition)
    for origin in _in_order(uses):
        roles = [use for use in uses if use.origin == origin]
        blocks.append(Items(_lead(origin, roles), tuple(_receives(subject, origin, roles))))
    in_client = [tool for tool in subject.tools if tool.request is None]
    if in_client:
        lead = "Your own client, the page or program you talk through. It receives:"
        handlers = sorted({quoted(subject.reach[tool.name].place.name) for tool in in_client})
        handled = f"It hands this to {listed(handlers)}; what that does is the client's own affair."
        blocks.append(Items(lead, (*_arguments(in_client), handled)))
    blocks.append(Paragraph(_closing(subject, any_host=bool(uses))))
    return Section(id="hosts", title="Which hosts receive what", blocks=tuple(blocks))


_ROLE_ORDER = ("app", "component", "outside", "sign-in")


def _in_order(uses: Iterable[OriginUse]) -> tuple[str, ...]:
    ordered = sorted(uses, key=lambda use: (_ROLE_ORDER.index(use.role), use.origin, use.name))
    return tuple(dict.fromkeys(use.origin for use in ordered))


def _lead(origin: str, roles: list[OriginUse]) -> str:
    words: list[str] = []
    if any(use.role == "app" for use in roles):
        words.append("the app's own host")
    components = [quoted(use.name) for use in roles if use.role == "component"]
    if components:
        words.append(f"the app's own part {listed(components)}")
    if any(use.role == "outside" for use in roles):
        # A host the app also names by its whole URL stays its own.
        words += [] if words else ["an outside host, not the app's own"]
    if any(use.role == "sign-in" for use in roles):
        words.append("where you sign in")
    return f"{origin}, {listed(words)}.{_warning(origin)} It receives:"


def _warning(origin: str) -> str:
    where = parse_url(origin).origin
    if where.scheme != "http":
        return ""
    if where.host in ("localhost", "::1") or (where.is_ip and where.host.startswith("127.")):
        return " Unencrypted (http), on the machine where Remit runs."
    return " UNENCRYPTED (http): whoever is on the way can read and change all that is sent."


def _receives(subject: Subject, origin: str, roles: list[OriginUse]) -> Iterator[str]:
    definition = subject.definition
    kinds = {use.role for use in roles}
    if "app" in kinds:
        yield _app_credential(definition.auth)
    if "component" in kinds:
        yield (
            "Who you are: a signed token with your user id, workspace and installation, and the "
            "id of the conversation, with every call to that part."
        )
    if "sign-in" in kinds:
        yield _sign_in_exchange(definition.auth)
    env = [use for use in env_uses_of(definition) if use.origin == origin]
    if env:
        values = listed([_env(use) for use in env])
        yield f"Values that are stored here for the app (env): {values}."
    tools = [tool for tool in subject.tools if subject.reach[tool.name].place.origin == origin]
    yield from _arguments([tool for tool in tools if tool.request is not None])
    yield from _other_ways(subject, [tool for tool in tools if tool.request is not None])
    if kinds == {"outside"}:
        yield "But not your sign-in."
    if "app" in kinds and definition.tools_url is not None:
        yield "A question without credential or data: which tools there are."


def _other_ways(subject: Subject, tools: list[Tool]) -> Iterator[str]:
    """Which tools go in which way, where an origin plays several parts."""
    ways: dict[tuple[str, str], list[str]] = {}
    for tool in tools:
        place = subject.reach[tool.name].place
        ways.setdefault((place.kind, place.name), []).append(tool.name)
    if len(ways) < 2:
        return
    for (form, name), names in sorted(ways.items()):
        if form == "url":
            yield f"Without sign-in or token, by its whole URL: {listed(names)}."
        elif form == "app":
            yield f"With the token for the part {quoted(name)}: {listed(names)}."
        else:
            yield f"With your sign-in: {listed(names)}."


def _app_credential(auth: Auth) -> str:
    text = _CREDENTIALS[auth.type]
    if auth.type == "apiKey" and auth.name is not None:
        where = "query parameter" if auth.location == "query" else "header"
        return f"{text[:-1]}, in the {where} {quoted(auth.name)}."
    if auth.type == "oauth2" and auth.scopes:
        return f"{text[:-1]}, for {listed([quoted(scope) for scope in sorted(auth.scopes)])}."
    return text


def _sign_in_exchange(auth: Auth) -> str:
    secret = "" if auth.client_secret_env is None else ", with the app's client secret"
    client = "" if auth.client_id is None else f", for the OAuth client {quoted(auth.client_id)}"
    return (
        "What you enter on its own page when you sign in, then the code and the token that renew "
        f"the sign-in{secret}{client}."
    )


def _env(use: EnvUse) -> str:
    if not use.collection:
        return f"{use.name} (no collection declared, so a call fails)"
    return f"{use.name} of {quoted(f'{use.collection}/{use.environment}')}"


def _arguments(tools: list[Tool]) -> Iterator[str]:
    """Lines that say which arguments go; tools that send the same stand on one line."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for tool in tools:
        groups.setdefault(sent_arguments(tool), []).append(tool.name)
    # The longest list of arguments says most and comes first.
    for arguments in sorted(groups, key=lambda group: (-len(group), group)):
        names = groups[arguments]
        if arguments:
            noun = "argument" if len(arguments) == 1 else "arguments"
            yield f"The {noun} {listed(arguments)}, from {listed(names)}."
        elif len(groups) > 1 and len(names) > _MAX_NAMED:
            yield f"No arguments, from the other {len(names):,} tools that go here."
        else:
            yield f"No arguments, from {listed(names)}."


def _closing(subject: Subject, *, any_host: bool) -> str:
    if not any_host:
        return "No host receives anything."
    tools = [tool for tool in subject.tools if tool.request is not None]
    if not tools and subject.definition.tools_url is None:
        return "Remit sends nothing anywhere else, and no tool sends anything today."
    return (
        "Remit sends nothing anywhere else: a redirect is not followed. Each request also carries "
        "what the app wrote into it beforehand, and the ids of the call and of its trace. What "
        "comes back is shown to you and read by the model that the workspace uses."
    )


def outside_origins(subject: Subject) -> tuple[str, ...]:
    """Hosts that are not the app's own and get arguments or env values."""
    uses = origins_of(subject.definition)
    own = {use.origin for use in uses if use.role in ("app", "component")}
    outside = {use.origin for use in uses if use.role == "outside"}
    return tuple(sorted(outside - own))
