"""Certificates: those given are checked before the server starts; one for a LAN is made on demand."""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from ..errors import MissingExtra

VALID = datetime.timedelta(days=365)
RENEW = datetime.timedelta(days=30)


class TlsError(Exception):
    """A certificate or its key cannot be used."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


def check(given: Certificate) -> Certificate:
    """The certificate, once both files are readable and belong together. Raises `TlsError`."""
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(given.certificate, given.key)
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror if not isinstance(error, ssl.SSLError) else error.reason
        raise TlsError(f"{given.certificate} with {given.key} cannot be used: {reason}") from None
    return given


def self_signed_certificate(host: str, directory: Path | None = None) -> tuple[Certificate, str]:
    """A certificate for this machine's names and addresses and the host, and its SHA-256 fingerprint in hexadecimal.

    One made earlier is used again while it covers the host and stays valid for 30 days, so that a camera has to trust it
    once only. The key file is readable by its owner only.

    Args:
        directory: where it is kept; None for ``oneread/tls`` in the user's state directory.

    Raises:
        MissingExtra: the extra ``tls`` is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ImportError:
        raise MissingExtra("A self-signed certificate needs cryptography: pip install 'oneread[tls]'") from None
    state = os.environ.get("XDG_STATE_HOME")
    directory = directory or (Path(state) if state else Path.home() / ".local" / "state") / "oneread" / "tls"
    files = Certificate(directory / "certificate.pem", directory / "key.pem")
    names = _names(host)
    now = datetime.datetime.now(datetime.UTC)
    if files.certificate.is_file() and files.key.is_file():
        found = x509.load_pem_x509_certificate(files.certificate.read_bytes())
        covered = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        known = {str(name.value) for name in covered}
        if set(names) <= known and found.not_valid_after_utc - now > RENEW:
            return check(files), found.fingerprint(hashes.SHA256()).hex()
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "oneread")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    _write(files.key, pem)
    _write(files.certificate, made.public_bytes(serialization.Encoding.PEM))
    return check(files), made.fingerprint(hashes.SHA256()).hex()


def _names(host: str) -> list[str]:
    """Names and addresses a client may use: the host given, this machine's own, and loopback."""
    found = ["localhost", "127.0.0.1", "::1", socket.gethostname()]
    if host not in ("0.0.0.0", "::", ""):  # noqa: S104
        found.append(host)
    else:
        try:
            found += [str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(socket.gethostname(), None)]
        except OSError:
            found += []  # a machine that does not know its own name is reached by the other names
    return list(dict.fromkeys(found))


def _general(name: str):  # type: ignore[no-untyped-def]  # a type of the extra
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write(path: Path, data: bytes) -> None:
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    fresh.replace(path)
