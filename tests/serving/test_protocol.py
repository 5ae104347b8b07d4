"""What is no HTTP, or comes too slowly, on a real connection; TLS."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from oneread.cli.listen import listen
from oneread.serving.app import create_app
from oneread.serving.limits import Limits
from oneread.serving.server import make_server
from oneread.serving.settings import Settings
from oneread.serving.tls import Certificate, TlsError, check, self_signed_certificate

from .bad_bodies import NOUL, SECRET, one
from .fakes import FakeDecider

LIMITS = Limits(header_bytes=4096, header_s=0.5, body_s=0.5)
GOOD = json.dumps(one(NOUL)).encode()
HEAD = b"POST /v1/systemone HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"


@contextmanager
def serving(tls: Certificate | None = None) -> Iterator[int]:
    bound = listen("127.0.0.1", 0)
    app = create_app(Settings(limits=LIMITS), FakeDecider())  # type: ignore[arg-type]
    server = make_server(app, 1, LIMITS, tls)
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    port = bound.getsockname()[1]
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as port:
        yield port


def talk(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """Everything the server says to these bytes until it closes, or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=3) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        got = b""
        try:
            while chunk := connection.recv(65536):
                got += chunk
                if b"\r\n\r\n" in got and b"connection: close" not in got:
                    break
        except (TimeoutError, ConnectionResetError):
            pass
        return got


def status_of(reply: bytes) -> int:
    return int(reply.split()[1])


BROKEN = {
    "not-http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no-version": b"GET /health\r\n\r\n",
    "bad-method": b"GE\x00T /health HTTP/1.1\r\nhost: x\r\n\r\n",
    "no-host": b"GET /health HTTP/1.1\r\n\r\n",
    "two-hosts": b"GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    "two-lengths": HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
    "length-list": HEAD + b"content-length: 5, 6\r\n\r\nhello!",
    "negative-length": HEAD + b"content-length: -1\r\n\r\n",
    "length-in-hex": HEAD + b"content-length: 0x5\r\n\r\nhello",
    "space-before-colon": HEAD + b"content-length : 5\r\n\r\nhello",
    "folded-header": HEAD + b"x-a: 1\r\n  2\x00\r\n\r\n",
    "newline-in-header": HEAD + b"x-a: a\rb\r\n\r\n",
    "nul-in-header": HEAD + b"x-a: \x00\r\n\r\n",
    "unknown-coding": HEAD + b"transfer-encoding: " + SECRET.encode() + b"\r\n\r\n",
    "chunked-twice": HEAD + b"transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("sent", BROKEN.values(), ids=BROKEN)
def test_what_is_no_http_gets_a_typed_refusal_and_an_end(port: int, sent: bytes) -> None:
    reply = talk(port, sent)
    assert status_of(reply) in (400, 501)
    head, _, body = reply.partition(b"\r\n\r\n")
    assert json.loads(body)["detail"]["error_type"] == "api_usage_error"
    assert b"x-request-id: req_" in head
    assert b"connection: close" in head
    assert SECRET.encode() not in reply


def test_a_length_beside_chunks_never_smuggles_a_second_request(port: int) -> None:
    inner = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
    reply = talk(port, HEAD + b"content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n" + inner, pause=0.3)
    # chunked wins (RFC 9112 6.3): the first request has an empty body; what follows is a request of its own, seen as one
    assert reply.count(b"HTTP/1.1 ") <= 2
    assert status_of(reply) in (400, 422)


def test_a_chunk_of_no_size_ends_the_connection_without_a_500(port: int) -> None:
    reply = talk(port, HEAD + b"transfer-encoding: chunked\r\n\r\nZZ\r\nhello\r\n")
    assert status_of(reply) == 400


def test_a_head_over_the_limit_gets_431(port: int) -> None:
    assert status_of(talk(port, HEAD + b"x-long: " + b"a" * 9000 + b"\r\n\r\n")) == 431
    assert status_of(talk(port, b"GET /" + b"a" * 9000)) == 431


def test_a_head_that_drips_gets_408(port: int) -> None:
    start = time.monotonic()
    reply = talk(port, b"POST /v1/sys", b"temone HT", pause=0.1)
    assert status_of(reply) == 408
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["detail"]["error_type"] == "timeout"
    assert time.monotonic() - start < 2


def test_a_second_head_that_drips_gets_408_too(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=3) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        got = b""
        while b'"version"' not in got:
            got += connection.recv(65536)
        assert b"200 OK" in got
        connection.sendall(b"GET /hea")
        assert b"408" in connection.recv(65536)


def test_a_connection_that_says_nothing_is_closed(port: int) -> None:
    assert talk(port) == b""


def test_a_body_that_drips_gets_408(port: int) -> None:
    start = time.monotonic()
    head = HEAD + f"content-length: {len(GOOD)}\r\n\r\n".encode()
    reply = talk(port, head, GOOD[:10], GOOD[10:20], pause=0.2)
    assert status_of(reply) == 408
    assert time.monotonic() - start < 2
    assert SECRET.encode() not in reply


def test_a_whole_request_in_pieces_is_answered(port: int) -> None:
    whole = HEAD + f"content-length: {len(GOOD)}\r\n\r\n".encode() + GOOD
    assert status_of(talk(port, *[whole[i : i + 60] for i in range(0, len(whole), 60)], pause=0.01)) == 200


@pytest.mark.parametrize(
    "path", [b"/v1/../v1/systemone", b"/v1//systemone", b"/v1/systemone/", b"/%2e%2e/etc/passwd", b"//x/health"]
)
def test_paths_are_taken_as_they_are(port: int, path: bytes) -> None:
    assert status_of(talk(port, b"GET " + path + b" HTTP/1.1\r\nhost: x\r\n\r\n")) in (404, 405)


def test_a_self_signed_certificate_is_made_once_and_served(tmp_path: Path) -> None:
    made, fingerprint = self_signed_certificate("192.168.7.7", tmp_path)
    assert self_signed_certificate("192.168.7.7", tmp_path)[1] == fingerprint
    assert self_signed_certificate("camera.example", tmp_path)[1] != fingerprint
    assert made.key.stat().st_mode & 0o077 == 0
    with serving(made) as port:
        context = ssl.create_default_context(cafile=made.certificate)
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
            context.wrap_socket(plain, server_hostname="camera.example") as secure,
        ):
            secure.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            assert b"200 OK" in secure.recv(65536)
        assert talk(port, b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n") == b""


def test_a_certificate_that_does_not_fit_its_key_is_refused(tmp_path: Path) -> None:
    one_, _ = self_signed_certificate("a", tmp_path / "a")
    other, _ = self_signed_certificate("b", tmp_path / "b")
    with pytest.raises(TlsError, match="cannot be used"):
        check(Certificate(one_.certificate, other.key))
    with pytest.raises(TlsError, match="No such file"):
        check(Certificate(tmp_path / "none.pem", other.key))
