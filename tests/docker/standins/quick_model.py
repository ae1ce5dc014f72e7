"""A model server that says one sentence, whatever it is asked: quick to answer, and to be back when it is killed."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SENTENCE = "Exact Orthogonal Initialization (EOI) is based on composing random Givens rotations [1]."
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Handler(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions`, whole or as a stream."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        streamed = bool(body.get("stream"))
        said = {"role": "assistant", "content": SENTENCE}
        choice = {"index": 0, "finish_reason": "stop", "delta" if streamed else "message": said}
        reply = {
            "id": "1", "created": 1, "model": body["model"], "choices": [choice], "usage": USAGE,
            "object": "chat.completion.chunk" if streamed else "chat.completion",
        }  # fmt: skip
        text = json.dumps(reply)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        self.wfile.write((f"data: {text}\n\ndata: [DONE]\n\n" if streamed else text).encode())

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Silent."""


ThreadingHTTPServer(("0.0.0.0", 11434), Handler).serve_forever()
