"""Sealed credentials and env values, and the keys that sign identity tokens.

``masters`` and ``sources`` bring the operator's key; ``envelopes`` is the cryptography, without
any store; ``sealing`` keeps data keys and seals; ``rotation`` renews what older keys sealed;
``signing`` mints identity tokens. docs/decisions/0011 says why it is so.
"""
