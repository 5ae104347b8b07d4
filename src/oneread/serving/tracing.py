"""OpenTelemetry traces: one span for a call, with spans for plan, queue, read and answer inside. Needs the extra ``otel``."""

from __future__ import annotations

import time
from typing import Any

from ..errors import MissingExtra
from ..version import __version__
from .call import Call


class Tracer:
    """Makes the spans of a finished call. Where they go is set by the ``OTEL_...`` variables of the OpenTelemetry SDK.

    Attribute names are those of its semantic conventions (``http.*``, ``gen_ai.*``, ``error.type``); ours begin with
    ``oneread.``. Nothing of the evidence, the questions or the answers is among them.

    Args:
        provider: a tracer provider; None makes one that sends over OTLP/HTTP.

    Raises:
        MissingExtra: the extra is not installed.
    """

    def __init__(self, provider: Any = None) -> None:
        try:
            from opentelemetry import trace
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

            self._own = provider is None
            if provider is None:
                provider = _exporting_provider()
        except ImportError:
            raise MissingExtra("Traces need OpenTelemetry: pip install 'oneread[otel]'") from None
        self._provider = provider
        self._tracer = provider.get_tracer("oneread", __version__)
        self._kind, self._status, self._set_span = trace.SpanKind, trace.StatusCode, trace.set_span_in_context
        self._propagator = TraceContextTextMapPropagator()

    def record(self, method: str, path: str, status: int, reader: str, call: Call) -> None:
        """Make the spans of a call that has ended, under the caller's ``traceparent`` where it sent one."""
        # spans are stamped with the wall clock, calls are measured with a clock that never jumps
        offset = time.time() - time.monotonic()

        def ns(at: float) -> int:
            return int((at + offset) * 1e9)

        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in call.headers.items()}
        attributes: dict[str, Any] = {
            "http.request.method": method,
            "http.route": path,
            "http.response.status_code": status,
            "oneread.request_id": call.id,
        }
        if call.model:
            attributes |= {"gen_ai.operation.name": "decide", "gen_ai.provider.name": "oneread", "gen_ai.response.model": reader}
        if call.answers is not None:
            usage = call.answers.usage
            attributes |= {
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "oneread.questions": len(call.answers.answers),
            }
        if call.kind is not None:
            attributes["error.type"] = call.kind
        root = self._tracer.start_span(
            f"{method} {path}",
            context=self._propagator.extract(carrier),
            kind=self._kind.SERVER,
            attributes=attributes,
            start_time=ns(call.started),
        )
        inside = self._set_span(root)
        for name, start, end in call.spans:
            of_read = {"oneread.rows": call.rows, "oneread.tokens": call.tokens} if name == "read" else None
            span = self._tracer.start_span(name, context=inside, start_time=ns(start), attributes=of_read)
            span.end(ns(end))
        if status >= 500:
            root.set_status(self._status.ERROR)
        root.end(ns(time.monotonic()))

    def close(self) -> None:
        """Send what is left."""
        if self._own:
            self._provider.shutdown()


def _exporting_provider() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "oneread", SERVICE_VERSION: __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
