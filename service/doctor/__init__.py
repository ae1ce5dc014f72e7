"""`loccit doctor`: what is set, stored and answered, looked at; and which setting to change.

examination    its order: one async generator of Findings
findings       what was found, with a mark, and what to change
configuration  settings that load, and yet can't be meant
folder         the data folder: writable, owned, readable, indexed, made by this embedder
vectors        the embedding model: dimension, count, order, length
endpoint       asking the model's endpoint, and what was observed (the only one here that does)
replies        observed replies -> Findings (pure)
window         the true context window: how much to send next, and what it means (pure)
obedience      12 canned prompts, and how well they were obeyed (pure)
"""

from service.doctor.examination import examine
from service.doctor.findings import Finding, is_well, plain_data

__all__ = ["Finding", "examine", "is_well", "plain_data"]
