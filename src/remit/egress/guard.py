"""The guard: whether a request may leave, decided in two steps (contract section 11).

``before`` looks at the URL alone, before any name is resolved. ``after`` looks at every address
of the one answer that the name gave; a single bad address refuses the whole answer. Neither
connects anywhere: the transport asks again with the address it is about to connect to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.egress.addresses import (
    CONTROL_NAMES,
    CONTROL_REASON,
    control_address,
    nat64_target,
    special_reason,
)
from remit.egress.allowances import Allowances, parse_allowances
from remit.egress.lookup import Lookup, NameUnresolved, look_up
from remit.errors import EgressRefused, WrongUse
from remit.values.ip import IpAddress, parse_ip
from remit.values.urls import Origin, UrlFault, parse_host, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_EARLY_DECISIONS = 1024
_NO_EXCEPTION = "It stays refused unless [egress] allow lists exactly this one."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the guard says about one URL.

    Attributes:
        decision: ``allow`` or ``refuse``.
        reason: a sentence for a person, naming the destination.
        mend: what the operator or author can do about a refusal, or None.
        addresses: what was looked at, canonical; empty where nothing was resolved.
    """

    decision: Literal["allow", "refuse"]
    reason: str
    mend: str | None = None
    addresses: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether the request may leave."""
        return self.decision == "allow"

    def as_error(self) -> EgressRefused:
        """The error of a refusal: reason and mend, each on its line."""
        lines = [f"The request was not sent: {self.reason}", *([self.mend] if self.mend else [])]
        return EgressRefused("\n".join(lines), sent=False)


class Guard:
    """The rules of one operator. It holds the allowances, and what they decided already."""

    def __init__(self, allowances: Allowances) -> None:
        self._allowances = allowances
        self._early: dict[tuple[str, str, int], Decision | None] = {}

    def before(self, origin: Origin) -> Decision | None:
        """Decide what can be decided without resolving a name.

        The same origin gets the same decision for good, as the allowances never change; it is
        made once.

        Returns:
            A final decision for a literal address and for every refusal; None for a name that
            must be resolved once and taken to ``after``.
        """
        key = (origin.scheme, origin.host, origin.port)
        try:
            return self._early[key]
        except KeyError:
            decision = self._decide_early(origin)
        if len(self._early) >= _EARLY_DECISIONS:
            self._early.clear()
        self._early[key] = decision
        return decision

    def _decide_early(self, origin: Origin) -> Decision | None:
        if origin.is_ip:
            return self.after(origin, (origin.host,))
        named = self._allowances.for_host(origin.host, origin.port)
        if named is not None:
            return None
        if origin.host in CONTROL_NAMES:
            return _refuse(
                f"{origin} is {CONTROL_REASON} and hands out credentials.", _NO_EXCEPTION
            )
        covered = self._allowances.may_reach_by_address(origin.port)
        return _refuse_http(origin) if origin.scheme == "http" and not covered else None

    def after(self, origin: Origin, addresses: Sequence[str]) -> Decision:
        """Decide on all addresses that the name resolved to, in one answer."""
        if not addresses:
            return unresolved(origin, "its name has no address")
        named = self._allowances.for_host(origin.host, origin.port) is not None
        shown: list[str] = []
        grounds: list[str] = []
        refusal: Decision | None = None
        for text in addresses:
            address = parse_ip(text)
            if address is None:
                found: Decision | str = _refuse(f"{origin} resolves to no plain address.")
                shown.append(ascii(text)[1:-1])
            else:
                found = self._judge(origin, address, named=named)
                shown.append(str(address))
            if isinstance(found, str):
                grounds.append(found)
            elif refusal is None:
                refusal = found
        if refusal is None:
            return Decision(decision="allow", reason=grounds[0], addresses=tuple(shown))
        return Decision(
            decision="refuse",
            reason=refusal.reason,
            mend=refusal.mend,
            addresses=tuple(shown),
        )

    def _judge(self, origin: Origin, address: IpAddress, *, named: bool) -> Decision | str:
        """A refusal, or the reason why this one address is allowed."""
        port = origin.port
        exact = self._allowances.for_address(address, port, exactly=True)
        if exact is not None:
            return f'{_subject(origin, address)} is listed in [egress] allow as "{exact.text}".'
        control = control_address(address)
        if control is not None and not self._allowances.for_address(control, port, exactly=True):
            return _refuse(
                f"{_subject(origin, address)} is {CONTROL_REASON} and hands out credentials.",
                _NO_EXCEPTION,
            )
        if named:
            return f"{origin.host} is listed in [egress] allow."
        return self._judge_unlisted(origin, address)

    def _judge_unlisted(self, origin: Origin, address: IpAddress) -> Decision | str:
        """The same for what no entry names: ranges, then the table of public addresses."""
        covering = self._allowances.for_address(address, origin.port)
        target = nat64_target(address) if covering is not None else None
        if target is not None:
            # A range that opens NAT64 opens the way, not what lies behind it.
            return self._judge(origin, target, named=False)
        if covering is not None:
            return f'{_subject(origin, address)} is inside "{covering.text}" of [egress] allow.'
        reason = special_reason(address)
        if reason is not None:
            return _refuse_special(origin, address, reason)
        if origin.scheme == "http":
            return _refuse_http(origin)
        return f"{_subject(origin, address)} is a public address."


def decide(url_text: str, resolved: Sequence[str], allow: Allowances) -> Decision:
    """Decide on a URL whose name resolved to these addresses (ignored for a literal)."""
    try:
        origin = parse_url(url_text).origin
    except UrlFault as fault:
        return refuse_url(fault)
    guard = Guard(allow)
    return guard.before(origin) or guard.after(origin, resolved)


async def check(
    url_text: str,
    *,
    allow: Allowances | Iterable[str] = (),
    resolve: Mapping[str, Sequence[str]] | None = None,
    lookup: Lookup = look_up,
) -> Decision:
    """Decide on a URL without sending anything: what ``remit egress check`` prints.

    Args:
        url_text: as given.
        allow: entries of ``[egress] allow``, read or not.
        resolve: answers by host. Where it is given no name is looked up for real, and a host it
            does not list is refused as unresolved.
        lookup: asked where ``resolve`` is None.

    Raises:
        WrongUse: an entry of ``allow`` or of ``resolve`` cannot be read.
    """
    allowances = allow if isinstance(allow, Allowances) else parse_allowances(allow)
    answers = None if resolve is None else _parse_answers(resolve)
    try:
        origin = parse_url(url_text).origin
    except UrlFault as fault:
        return refuse_url(fault)
    guard = Guard(allowances)
    early = guard.before(origin)
    if early is not None:
        return early
    if answers is not None:
        if origin.host not in answers:
            return unresolved(origin, "its name is not among those given")
        return guard.after(origin, answers[origin.host])
    try:
        return guard.after(origin, await lookup(origin.host, origin.port))
    except NameUnresolved as fault:
        return unresolved(origin, fault.reason)


def refuse_url(fault: UrlFault) -> Decision:
    """The refusal of a text that is no URL; the text itself is not repeated."""
    return _refuse(f"The URL cannot be used: {fault.reason}.")


def unresolved(origin: Origin, why: str) -> Decision:
    """The refusal of a name without an address."""
    return _refuse(f"{origin} cannot be resolved: {why}.")


def _parse_answers(resolve: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    answers: dict[str, tuple[str, ...]] = {}
    for host, addresses in resolve.items():
        try:
            name = parse_host(host)
        except UrlFault as fault:
            msg = f"--resolve: {host!a} is no host: {fault.reason}."
            raise WrongUse(msg) from None
        for address in addresses:
            if parse_ip(address) is None:
                msg = f"--resolve: {address!a} for {name} is no IP address."
                raise WrongUse(msg)
        answers[name] = (*answers.get(name, ()), *addresses)
    return answers


def _refuse(reason: str, mend: str | None = None) -> Decision:
    return Decision(decision="refuse", reason=reason, mend=mend)


def _refuse_http(origin: Origin) -> Decision:
    return _refuse(
        f"{origin} is plain http, which anyone on the way can read and change.",
        f"Use https; if this host is yours, allow it: {_allowing(origin)}",
    )


def _refuse_special(origin: Origin, address: IpAddress, reason: str) -> Decision:
    return _refuse(
        f"{_subject(origin, address)} is not a public address ({reason}).",
        f"If this host is yours, allow it: {_allowing(origin)}",
    )


def _subject(origin: Origin, address: IpAddress) -> str:
    return str(address) if origin.is_ip else f"{origin} resolves to {address}, which"


def _allowing(origin: Origin) -> str:
    return f'[egress] allow = ["{origin.host}"], or REMIT_EGRESS_ALLOW={origin.host}'
