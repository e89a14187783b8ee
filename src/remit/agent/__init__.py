"""Language models behind the ``Model`` and ``Models`` ports, on pydantic-ai's model level.

What is imported when: ``remit.agent.models`` costs nothing; the library and the provider's SDK come
with the first use, or with ``ProviderModels.prepare``, in a thread (decision 0017).
"""

from remit.agent.limits import ModelLimits
from remit.agent.models import ProviderModels

__all__ = ["ModelLimits", "ProviderModels"]
