"""App folders: from ``app.yaml``, ``SKILL.md`` and tools files to one definition (section 8).

``build`` runs the folder's tools files, each in a process of its own; ``missing_routes`` asks the
components for what the tools name. What the definition itself may say is the catalog's matter.
"""

from remit.building.compiling import Built, build, mistakes_of
from remit.building.faults import Fault
from remit.building.folder import APP_FILE, SKILLS
from remit.building.routes import missing_routes
from remit.building.tools_files import LIMIT_S

__all__ = [
    "APP_FILE",
    "LIMIT_S",
    "SKILLS",
    "Built",
    "Fault",
    "build",
    "missing_routes",
    "mistakes_of",
]
