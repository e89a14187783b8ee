"""What the machine says about a connection, in a person's words, with nothing sent."""

from __future__ import annotations

import errno
import ssl

import pytest

from remit.egress import faults
from remit.errors import CallError, UpstreamTimeout, UpstreamUnreachable
from remit.gateway.ports import Limits
from remit.values.urls import parse_url

ORIGIN = parse_url("https://maple.test/").origin


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (TimeoutError(), UpstreamTimeout, "within 5000 ms"),
        (OSError(errno.ETIMEDOUT, "x"), UpstreamUnreachable, "connection timed out"),
        (OSError(errno.ECONNREFUSED, "x"), UpstreamUnreachable, "nothing listens there"),
        (OSError(errno.ENETUNREACH, "x"), UpstreamUnreachable, "network is unreachable"),
        (ConnectionAbortedError("internals"), UpstreamUnreachable, "it was not made"),
        (OSError(), UpstreamUnreachable, "it was not made"),
        (ssl.SSLCertVerificationError(1, "x"), UpstreamUnreachable, "The certificate of"),
        (ssl.SSLError(1, "x"), UpstreamUnreachable, "(TLS)"),
    ],
    ids=range(8),
)
def test_a_connection_that_was_not_made_says_why(
    fault: OSError, error: type[CallError], words: str
) -> None:
    """Each names the origin and says that nothing was sent."""
    made = faults.unconnected(fault, ORIGIN, Limits())
    assert type(made) is error
    assert made.sent is False
    assert words in str(made)
    assert "https://maple.test" in str(made)
    assert str(made).endswith("Nothing was sent.")
