# ruff: noqa: E501  (a table of texts, one a line)
"""Texts with alternatives: ``{one|other}`` picks one, ``{name}`` draws from a list below; both nest."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_BRACES = re.compile(r"\{([^{}]*)\}")


def _words(text: str) -> list[str]:
    return [w.replace("_", " ") for w in text.split()]


FIRST = _words("""Mara Jonas Aiko Luis Priya Chen Sofia Omar Greg Linda Tom Karen Vince Sally Daren Louise Pat Stefan Ingrid Yusuf Hannah
Bob Mike Steve Rachel Dave Jen Ola Kofi Marta Pedro Wei Anita Ravi Nina Paul Claire Hugo Elena Ben Ruth Sam Tess Ivan Joyce Kim""")
LAST = _words("""Keller Moreau Tanaka Ruiz Shah Lindgren Okafor Brown Walsh Petrov Costa Meyer Novak Haddad Fraser Doyle Park Silva Weber
Hughes Baker Ellis Ortega Grant Mbeki Larsen Quinn Tran Vance Holt Bennett Marsh""")
COMPANIES = _words("""Northwind Halden Brightwater Corvex Solaria Meridian Tessera Oakline Bluepeak Ferrum Lumio Castellan Arden Quillon
Vantor Pelican Redwood Summit Kestrel Amberly Juniper Harbour Stellar Ironbridge""")
ENDINGS = ("", "", " Ltd", " Inc", " Group", " Labs", " Partners", " Logistics", " Energy", " Systems", " Holdings")
SHOPS = _words("""ShopHub BookNest Fernway CloudBox StreamTV PayFast Northbank TeaHouse Bikely Parcelo Sunair Railgo Metrobank Gardenista
Homely PetPlace Fitloop Soundly Ticketly Grocero""")
CITIES = _words("""Oslo Lisbon Denver Leeds Osaka Madrid Houston Cape_Town Toronto Berlin Lyon Austin Dublin Lagos Chicago Milan Prague
Portland Vienna Manila Bristol""")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
BITS = _words("""best deal offer secure verify pay online pro smart fast top net mega click live easy gold prime home med cash lux
green data track news hub mail web shop team info go my""")
TLDS = ("com", "net", "biz", "info", "org", "co", "top", "xyz", "ru", "cc", "us", "online")
PLAIN_TLDS = ("com", "com", "org", "net", "io", "co.uk", "edu", "example")
THINGS = """the budget|the forecast|the draft contract|the slides|the test plan|the storage agreement|the site visit|the invoice list
the hiring plan|the pipeline schedule|the database move|the press text|the floor plan|the credit report|the training|the release
the customer survey|the audit|the price list|the grant application|the weekly numbers""".replace("\n", "|").split("|")
PROJECTS = """parser|billing export|login page|search index|mobile app|data loader|build server|map view|report module|scheduler
message queue|cache layer|test runner|image tool""".replace("\n", "|").split("|")


def _domain(rng: random.Random) -> str:
    return "".join(rng.sample(BITS, 2)) + rng.choice(("", "", str(rng.randint(1, 99)))) + "." + rng.choice(TLDS)


def _plain_domain(rng: random.Random) -> str:
    """Mostly a company's; now and then as odd as any, so that an address alone decides nothing."""
    if rng.random() < 0.15:
        return _domain(rng)
    return rng.choice(COMPANIES + SHOPS).lower() + "." + rng.choice(PLAIN_TLDS)


def _bad_domain(rng: random.Random) -> str:
    return _domain(rng) if rng.random() < 0.75 else _plain_domain(rng)


def _letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choices("abcdefghijkmnpqrstuvwxyz0123456789", k=n))


def _money(rng: random.Random) -> str:
    n = rng.choice((rng.randint(3, 99), rng.randint(100, 990), rng.randint(1, 95) * 1000))
    return rng.choice(("${:,}", "${:,}.00", "{:,} dollars", "£{:,}", "EUR {:,}", "{:,} USD", "€{:,}")).format(n)


SLOTS: dict[str, Callable[[random.Random], str]] = {
    "name": lambda r: r.choice(FIRST),
    "last": lambda r: r.choice(LAST),
    "full": lambda r: f"{r.choice(FIRST)} {r.choice(LAST)}",
    "co": lambda r: r.choice(COMPANIES) + r.choice(ENDINGS),
    "shop": lambda r: r.choice(SHOPS),
    "city": lambda r: r.choice(CITIES),
    "day": lambda r: r.choice(DAYS),
    "month": lambda r: r.choice(MONTHS),
    "date": lambda r: f"{r.choice(MONTHS)} {r.randint(1, 28)}" if r.random() < 0.6 else f"{r.randint(1, 12)}/{r.randint(1, 28)}",
    "time": lambda r: r.choice(("{}:{:02} {}", "{}.{:02}{}")).format(r.randint(1, 12), r.choice((0, 15, 30, 45)), r.choice(("am", "pm"))),
    "n": lambda r: str(r.randint(2, 9)),
    "nn": lambda r: str(r.randint(10, 99)),
    "id": lambda r: str(r.randint(10000, 999999)),
    "code": lambda r: _letters(r, r.randint(5, 8)).upper(),
    "year": lambda r: str(r.randint(2000, 2025)),
    "money": _money,
    "big": lambda r: rf"{r.choice(('$', '$', 'US$', '£', '€'))}{r.randint(1, 48)}{r.choice((',500,000', ' million', ' Million', '.5 million'))}",
    "badurl": lambda r: r.choice(("http://{}/{}", "www.{}", "{}/{}", "http://www.{}/?id={}")).format(_bad_domain(r), _letters(r, 5)),
    "url": lambda r: r.choice(("https://{}/{}", "http://www.{}", "https://docs.{}/{}", "{}/help/{}")).format(_plain_domain(r), _letters(r, 5)),
    "phone": lambda r: r.choice(("0{}", "+44 7{}", "1-8{}", "08{}")).format(r.randint(10**8, 10**9 - 1)),
    "short": lambda r: str(r.randint(60000, 89999)),
    "thing": lambda r: r.choice(THINGS),
    "project": lambda r: r.choice(PROJECTS),
}  # fmt: skip


def spin(rng: random.Random, text: str) -> str:
    """The text with every brace resolved, innermost first. A slot that is not in `SLOTS` raises KeyError."""

    def one(m: re.Match[str]) -> str:
        return rng.choice(m[1].split("|")) if "|" in m[1] else SLOTS[m[1]](rng)

    while "{" in text:
        text = _BRACES.sub(one, text)
    return text.replace("?.", "?").replace("!.", "!")


def table(text: str) -> tuple[str, ...]:
    """The alternatives of one part, written with `` // `` between them."""
    return tuple(x.strip() for x in text.split(" // "))
