"""What a call is made in and with: the app as the user has it, and the ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from remit.errors import OverCeiling, UnknownTool
from remit.values.json import nearest
from remit.values.secrets import NOTHING_SECRET, Masker, Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.calls.wire import CredentialUse
    from remit.catalog.model import Definition, Tool
    from remit.gateway.ports import Approver, Clock, Egress, Ids, Watcher
    from remit.policy.catalogs import EffectiveCatalog


class World(Struct, frozen=True, kw_only=True):
    """The ports that a call needs."""

    egress: Egress
    approver: Approver
    clock: Clock
    ids: Ids
    watcher: Watcher


class App(Struct, frozen=True, kw_only=True):
    """The app that a call is made in, with what the user brought.

    Attributes:
        catalog: the effective one: what is not in it cannot be called.
        credential: the user's own, or None; with ``auth: identity`` the signed token.
        use: the credential in the shape that it is sent in, where that is known already.
        env: values by name.
        identity: the signed token for the tool's component; None for other destinations.
        version: Remit's own, for ``User-Agent``.
    """

    definition: Definition
    catalog: EffectiveCatalog
    credential: Secret | None = None
    use: CredentialUse | None = None
    identity: Secret | None = None
    env: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    version: str = "0"
    brand: str = "Remit"

    def masker(self, secret_arguments: tuple[Secret, ...] = ()) -> Masker:
        """Takes credential, env values and secret arguments out of what the app says."""
        if not self.env and not secret_arguments and self.identity is None:
            if self.credential is None:
                return NOTHING_SECRET
            if self.definition.auth.type != "basic":
                return self.credential.masker()
        known = [*self.env.values(), *secret_arguments]
        if self.identity is not None:
            known.append(self.identity)
        if self.credential is not None:
            known.append(self.credential)
            if self.definition.auth.type == "basic":
                known += [Secret(p) for p in self.credential.reveal().split(":", 1)[1:]]
        return Masker(tuple(known))


def find_tool(app: App, name: str, *, where: str = "`remit catalog`") -> Tool:
    """The tool of that name in the effective catalog.

    Args:
        app: whose catalog it is.
        name: as a caller gave it.
        where: the caller finds the tools listed.

    Raises:
        OverCeiling: it is declared, but above the ceiling.
        UnknownTool: it is not there, or was dropped; the message says why.
    """
    tool = app.catalog.tool(name)
    if tool is not None:
        return tool
    dropped = app.catalog.dropped_tool(name)
    if dropped is not None and dropped.over_ceiling:
        raise OverCeiling(
            f"{name} cannot be called: {dropped.reason}. "
            "Raising the ceiling is a change of the definition, and a reviewer must approve it."
        )
    if dropped is not None:
        raise UnknownTool(f"{name} was dropped from the catalog: {dropped.reason}.")
    near = nearest(name, (known.name for known in app.catalog.tools))
    hint = f'Did you mean "{near}"?' if near else f"{where} lists the tools."
    raise UnknownTool(f'{app.definition.name} has no tool "{name[:80]}". {hint}')
