"""Sockets to listen on, and the errors of an address that cannot be had."""

from __future__ import annotations

import errno
import socket


class CannotListen(Exception):
    """The address cannot be listened on. ``todo`` says what to do next."""

    def __init__(self, what: str, todo: str) -> None:
        self.todo = todo
        super().__init__(what)


def listen(host: str, port: int) -> socket.socket:
    """A TCP socket bound to the address, not yet accepting.

    Raises:
        CannotListen: the host is not known or not of this machine, or the port is taken or reserved.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError):
        raise CannotListen(
            f"The host {host!r} is not known.", "Use --host 127.0.0.1 for this machine only, 0.0.0.0 for all."
        ) from None
    # With its protocol named, asyncio turns Nagle's algorithm off; else each reply waits 40 ms for an acknowledgement.
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        # A bound socket that does not listen would let a second server take the same port.
        bound.listen(2048)
    except PermissionError:
        bound.close()
        raise CannotListen(f"Port {port} is reserved on this system.", "Choose a port above 1023 with --port.") from None
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotListen(
                f"Port {port} of {host} is taken.", "Stop what listens there, or choose another with --port."
            ) from None
        raise CannotListen(
            f"{host} port {port} cannot be listened on: {error.strerror}.", "Choose another with --host and --port."
        ) from None
    bound.setblocking(False)
    return bound


def url_of(bound: socket.socket) -> str:
    """Where a client on this machine finds the socket."""
    host, port = bound.getsockname()[:2]
    local = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{local}:{port}"
