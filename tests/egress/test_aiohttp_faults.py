"""No exception of the HTTP library crosses the border of the room."""

from __future__ import annotations

import ssl

import aiohttp
import pytest

from remit.egress.admission import Admission
from remit.egress.aiohttp_faults import ConnectionBroke, as_call_error
from remit.egress.allowances import Allowances
from remit.egress.guard import Guard
from remit.egress.lookup import look_up
from remit.errors import CallError
from remit.gateway.ports import Limits
from remit.values.urls import parse_url


def every_client_error() -> list[type[aiohttp.ClientError]]:
    """All that the library has, by the names it exports."""
    exported = [getattr(aiohttp, name) for name in sorted(aiohttp.__all__)]
    return [
        item
        for item in exported
        if isinstance(item, type) and issubclass(item, aiohttp.ClientError)
    ]


def instance(kind: type[aiohttp.ClientError]) -> Exception:
    """One of a class, without the arguments that each wants."""
    fault = kind.__new__(kind)
    if isinstance(fault, aiohttp.ClientConnectorError):
        fault._os_error = OSError(111, "Connection refused")  # noqa: SLF001 -- what its init sets
    if isinstance(fault, aiohttp.ClientConnectorCertificateError):
        fault._certificate_error = ssl.CertificateError()  # noqa: SLF001 -- what its init sets
    if isinstance(fault, aiohttp.ClientResponseError):
        fault.status, fault.message = 400, "Bad"
        fault.request_info = aiohttp.RequestInfo("", "GET", {})  # type: ignore[arg-type]
    return fault


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("kind", every_client_error(), ids=lambda kind: kind.__name__)
def test_every_fault_of_the_library_becomes_an_error_of_ours(
    kind: type[aiohttp.ClientError], sent: bool
) -> None:
    """A caller handles one tree, and ``sent`` is never lost on the way."""
    admission = Admission(Guard(Allowances()), parse_url("https://maple.test/").origin, look_up)
    if sent:
        admission.mark_sent()
    error = as_call_error(instance(kind), admission, Limits())
    assert isinstance(error, CallError)
    assert error.sent is sent
    assert "https://maple.test" in str(error)
    assert ("Nothing was sent" in str(error)) is not sent


def test_the_library_has_the_errors_that_we_know() -> None:
    """The table above is not empty by mistake."""
    assert {aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError} < set(every_client_error())


def test_our_own_break_is_none_that_the_library_repeats() -> None:
    """The library repeats ClientOSError and ServerDisconnectedError; ours is neither."""
    assert not issubclass(ConnectionBroke, aiohttp.ClientOSError | aiohttp.ServerDisconnectedError)
