"""Quality on a labelled set, as figures with intervals.

beir       a retrieval set in the BEIR layout
labelled   labelled questions: JSON lines or CSV
measures   scores of one ranking, one answer, one set (pure)
estimates  figures with their intervals (pure)
corpus     papers -> a collection of their own, kept between runs
retrieval  the three retrievers on a set
asking     labelled questions -> answers
judging    one answer against its labels (pure)
answers    all answers -> tables (pure)
tables     what is shown, and as JSON
plots      SVG
"""
