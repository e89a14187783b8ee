"""Who may do what: ceiling, rules, approval, what an approval fixes and what changes it. Pure."""
