"""Papers in, hits out. Knows nothing of HTTP, language models or settings.

store       the facade: one data folder, opened by one process (lock)
jobs        large inputs, spooled, resumed after a crash; reindex: every passage anew, interruptible
ingest      read -> identity, merge -> split -> skip what is known -> embedding -> catalogue
upkeep      keeps the index at the catalogue's revision (journal), mends and rebuilds it
search      dense and lexical legs, fused, filtered, one hit a paper
index       the dense leg, derived; index_process: the only Chroma file, a process of its own
matrix      exact search over the stored vectors, whenever the index can't be asked
lexical     BM25 over SQLite FTS5
catalogue   the truth: papers, passages, vectors, jobs (database: SQLite, WAL)
split       Paper -> passages that tile the abstract (pure); sentences, clean, merge
readers     one module a family of formats
paper       Paper, Passage, Hit, Filters, Report
"""
