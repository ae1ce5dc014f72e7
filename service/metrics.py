"""Every instrument of the service, by name, in a registry of its own."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from service.domain import Answer
from vectorstore.paper import Report

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """The instruments. A registry of our own, so that two apps in one process do not collide."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "loccit_http_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self.request_seconds = Histogram(
            "loccit_http_request_seconds", "Time to answer.", ("route",), buckets=_SECONDS, registry=self.registry
        )
        self.in_flight = Gauge("loccit_http_requests_in_flight", "Requests not yet answered.", registry=self.registry)
        self.answers = Counter("loccit_answers", "Answers given.", ("status", "prompt"), registry=self.registry)
        self.answer_seconds = Histogram(
            "loccit_answer_stage_seconds", "Time in a stage.", ("stage",), buckets=_SECONDS, registry=self.registry
        )
        self.records = Counter("loccit_records", "Records taken in.", ("outcome",), registry=self.registry)
        self.papers = Gauge("loccit_papers", "Papers stored.", ("collection",), registry=self.registry)
        self.passages = Gauge("loccit_passages", "Passages indexed.", ("collection",), registry=self.registry)

    def observe(self, answer: Answer) -> None:
        """Count an answer, and the time of its stages."""
        self.answers.labels(answer.status, answer.provenance.prompt).inc()
        for stage in ("retrieve", "generate", "verify", "total"):
            self.answer_seconds.labels(stage).observe(getattr(answer.timings_ms, stage) / 1000)

    def count(self, report: Report) -> None:
        """Count the records of an input."""
        for outcome in ("added", "updated", "unchanged"):
            self.records.labels(outcome).inc(getattr(report, outcome))
        self.records.labels("skipped").inc(len(report.skipped))

    def exposition(self) -> bytes:
        """The state of every instrument in the Prometheus text format."""
        return generate_latest(self.registry)
