"""Papers in, hits out. Knows nothing of HTTP, language models or settings.

store       the facade: one data folder, opened by one process
ingest      read -> merge -> split -> skip what is known -> embed -> store
search      dense and lexical legs, fused, filtered
index       the only Chroma file: the dense leg, derived from the catalogue
lexical     BM25 over SQLite FTS5
catalogue   the truth: papers, passages, vectors, jobs (SQLite, WAL)
split       Paper -> Passages that tile the abstract (pure)
sentences   where the sentences of a text begin and end (pure)
readers     one module a family of formats
paper       Paper, Passage, Hit, Filters, Report
"""
