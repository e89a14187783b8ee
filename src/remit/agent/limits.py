"""What one request to a model may take, in time and in size."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Bounds of one request; what goes beyond them is no answer.

    Attributes:
        connect_s: to open a connection, TLS included.
        silence_s: between two pieces of an answer, and before the first.
        total_s: for the whole request.
        text_bytes: of what the model says, in UTF-8; of what it thinks likewise.
        calls: that one answer may ask for.
        args_bytes: of the arguments of one call, in UTF-8.
        all_args_bytes: of the arguments of all calls of one answer: they are kept, and sent again
            with every request after it.
        line_bytes: of one line of the stream, or of a body that is no stream.
        stream_bytes: of the whole answer on the wire: a piece of a word comes in an envelope of a
            few hundred bytes.
    """

    connect_s: float = 5.0
    silence_s: float = 60.0
    total_s: float = 600.0
    text_bytes: int = MIB
    calls: int = 128
    args_bytes: int = 256 * KIB
    all_args_bytes: int = MIB
    line_bytes: int = 4 * MIB
    stream_bytes: int = 128 * MIB
