"""``remit explain``: a page for every error code and lint rule."""

from __future__ import annotations

from remit.errors import WrongUse
from remit.main.output import print_text
from remit.main.pages import ids, page
from remit.values.json import nearest


def run(code: str | None) -> int:
    """Print one page, or the list of all codes where none is named."""
    known = ids()
    if code is None:
        rules = [name for name in known if "_" not in name]
        codes = [name for name in known if "_" in name or name in ("denied", "cancelled")]
        rules = [name for name in rules if name not in codes]
        print_text("Error codes of a call\n" + "\n".join(f"  {name}" for name in codes))
        print_text("\nRules of remit lint\n" + "\n".join(f"  {name}" for name in rules))
        print_text("\nNext: remit explain CODE")
        return 0
    text = page(code.strip())
    if text is None:
        near = nearest(code, known)
        hint = f'Did you mean "{near}"?' if near else "`remit explain` lists them all."
        raise WrongUse(f'There is no code "{code}". {hint}')
    print_text(text.rstrip())
    return 0
