"""Check an Answer from outside, over HTTP alone: it cites, and every quote stands in its abstract, to the character."""

import json
import sys
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen


def main(address: str, file: str) -> None:
    """Print the answer with its quotes; exit with a sentence where a quote is not where it claims to be."""
    answer = json.loads(Path(file).read_text(encoding="utf-8"))
    if answer["status"] == "abstained" or not answer["citations"]:
        sys.exit(f"no cited answer: {answer['status']}, {answer['reason']}")
    print(answer["answer"])
    for citation in answer["citations"]:
        with urlopen(f"{address}/v1/papers/{quote(citation['paper_id'], safe='')}") as reply:
            abstract = json.load(reply)["abstract"]
        start, end, words = citation["start"], citation["end"], citation["quote"]
        if abstract[start:end] != words:
            sys.exit(f"citation {citation['number']} is not in its abstract: {words}")
        print(f"  [{citation['number']}] {citation['paper_id']} {start}-{end}: {words}")


if __name__ == "__main__":
    main(*sys.argv[1:])
