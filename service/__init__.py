"""loccit: answers over research abstracts, every sentence pinned to the words that carry it.

cli        the `loccit` command          client     how it reaches the HTTP API
app        create_app(settings)          api        the routes, thin
ask        one question to its Answer    evidence, citations, verify   its pure steps
models     "provider:model" -> a model   offline, minilm   the two built-in ones
config     Settings; layers              domain, errors    the words everyone shares
"""

__version__ = "0.1.0"
