"""Routes for operators: /metrics and /docs."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from .docs_page import CSP, docs_page
from .metrics import CONTENT_TYPE
from .service import Service

metrics = APIRouter(tags=["probes"])
pages = APIRouter()


@metrics.get("/metrics", summary="Prometheus metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def scrape(request: Request) -> Response:
    """Counters and gauges. Asked for with a key where the server has keys; never holds evidence, ids or keys."""
    service: Service = request.app.state.service
    ready = service.seems_ready
    return Response(service.metrics.text(service.admission.inside, ready), media_type=CONTENT_TYPE)


@pages.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """The OpenAPI document for people, without a line of script and without anything from elsewhere."""
    return HTMLResponse(docs_page(request.app.openapi()), headers={"content-security-policy": CSP})
