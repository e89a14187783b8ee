"""The session machine: what happens in a conversation, and what state that makes. Pure."""
