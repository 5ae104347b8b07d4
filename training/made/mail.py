# ruff: noqa: E501  (tables of texts)
"""Whole e-mails and text messages, spam against ham, as plain text and objects, with questions in many wordings.

A loud mark (capitals, links, money, exclamation marks, lower case) falls on both sides, so that what is wanted decides.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping

from oneread.questions import Content

from ..corpus import Example
from . import ham_texts, spam_texts
from .ask import Label, choice, noul, wrap
from .spin import FIRST, spin, table

Parts = tuple[tuple[str, ...], ...]


def _parts(kinds: Mapping[str, str]) -> tuple[Parts, ...]:
    return tuple(tuple(table(line.replace("\\n", "\n")) for line in text.split("\n")) for text in kinds.values())


KINDS: dict[str, tuple[Parts, ...]] = {
    "advert": _parts(spam_texts.ADVERTS),
    "fraud": _parts(spam_texts.FRAUDS),
    "personal": _parts(ham_texts.PERSONAL),
    "business": _parts(ham_texts.BUSINESS),
    "notice": _parts(ham_texts.NOTICE),
    "newsletter": _parts(ham_texts.NEWSLETTER),
}
GREETINGS = ("", "", "", "Hello,", "Hi,", "Dear {name},", "Hi {name},", "{name},", "Good {morning|afternoon},", "Dear all,", "Dear {Sir or Madam|friend|customer},")  # fmt: skip
SMALL_TALK = (
    "I hope {this finds you well|you had a good weekend}.", "Thank you for your time.", "Please see below.", "More details {follow|below}.", "Let me explain.", "As always, feel free to {write|call}.",
    "{Have a nice day|Have a good week}.", "It was a busy {week|month}.", "Just a short {note|mail}.", "The rest is in the attachment.", "Please do not hesitate to {contact|ask} me.", "{Sent from my phone|Written in a hurry}.",
)  # fmt: skip
FOOTERS = (
    "", "", "", "", "To unsubscribe {write to|visit} {url}", "This e-mail may contain confidential information.", "{co}, {nn} {Main|Station|Park} Street, {city}", "-- \n{full}\n{phone}", "Sent from my phone", "{code}{code}",
    "You receive this message because of your settings.", "Copyright {year} {co}", "Attachment: {form|document|list}_{id}.{pdf|doc|zip|xls}",
)  # fmt: skip
DISGUISE = str.maketrans({"a": "@", "i": "1", "o": "0", "e": "3", "s": "$", "l": "1"})


def _disguise(rng: random.Random, text: str) -> str:
    """Some words as a filter would not know them: V1agra, f r e e, mon.ey."""

    def one(m: re.Match[str]) -> str:
        word = m[0]
        if rng.random() > 0.2:
            return word
        roll = rng.random()
        if roll < 0.45:
            return word[0] + word[1:].translate(DISGUISE)
        return " ".join(word) if roll < 0.6 else word[:3] + rng.choice("._-'*") + word[3:] if roll < 0.85 else word.upper()

    return re.sub(r"(?<![\w/.@-])[A-Za-z]{4,}(?![\w/.@-])", one, text)


def _surface(rng: random.Random, text: str, spam: bool) -> str:
    """How it was typed; only disguised words are a mark of spam alone, exclamation marks fall on both."""
    if spam and rng.random() < 0.14:
        text = _disguise(rng, text)
    if rng.random() < (0.3 if spam else 0.04):  # the texts of wanted mail hold more of their own
        text = re.sub(r"\.(?=\s|$)", lambda m: rng.choice(("!", "!!", m[0], m[0], "!!!")), text)
    elif not spam and rng.random() < 0.55:
        text = re.sub("!+", ".", text)
    roll = rng.random()
    if roll < 0.1:  # as old corpora keep it: lower case, every sign a word
        text = re.sub(r"\s+", " ", re.sub(r"([^\w\s])", r" \1 ", text.lower()))
    elif roll < 0.17:
        text = text.lower()
    elif roll < 0.19:
        text = text.upper()
    elif roll < 0.23:
        text = text.replace("\n", " <br> ")
    return text


def _body(rng: random.Random, kind: Parts, short: bool) -> str:
    _, openers, points, closers = kind
    picked = [rng.choice(openers), *rng.sample(points, rng.randint(0 if short else 1, 1 if short else len(points)))]
    if not short:
        picked += rng.sample(SMALL_TALK, rng.choice((0, 0, 1, 2)))
        if rng.random() < 0.3 and len(openers) > 1:
            picked.insert(1, rng.choice([o for o in openers if o != picked[0]]))
    picked = [picked[0], *rng.sample(picked[1:], len(picked) - 1)]
    sentences = [spin(rng, p) for p in picked]
    gap = rng.choice((" ", " ", "\n", "\n\n"))
    text = gap.join(s[:1].upper() + s[1:] if s[0].islower() and rng.random() < 0.8 else s for s in sentences)
    if not short or rng.random() < 0.5:
        text = f"{spin(rng, rng.choice(GREETINGS))}\n{text}\n{spin(rng, rng.choice(closers))}\n{spin(rng, rng.choice(FOOTERS))}".strip()
    return text


def _sender(rng: random.Random, spam: bool, group: str) -> str:
    first = rng.choice(FIRST)
    roll = rng.random()
    role = spin(rng, "{info|office|news|service|no-reply|{name}|hello|support|sales}")
    local = (
        role if group in ("newsletter", "notice") or roll < 0.3 else spin(rng, f"{first}{{|.{{last}}|{{nn}}|_{{last}}}}").lower()
    )
    host = spin(rng, "{badurl}" if spam and rng.random() < 0.6 else "{url}").split("//")[-1].split("/")[0].removeprefix("www.")
    if group == "personal" or rng.random() < 0.15:
        host = rng.choice(("hotmail.com", "gmail.com", "yahoo.com", "aol.com", "mail.example"))
    address = f"{local}@{host}".lower()
    return (
        address
        if rng.random() < 0.5
        else f"{spin(rng, first + ' {last}') if rng.random() < 0.7 else spin(rng, '{shop}')} <{address}>"
    )


def _state(rng: random.Random, group: str, spam: bool) -> Content:
    kind = rng.choice(KINDS[group])
    roll = rng.random()
    body = _body(rng, kind, 0.3 <= roll < 0.55)  # a short body needs its subject to be understood
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2, 4))):
        body += "\n\n" + _body(rng, rng.choice(KINDS[group]), False)
    body = _surface(rng, body, spam)
    subject = spin(rng, rng.choice(kind[0]))
    if rng.random() < 0.6 and body != body.lower():
        subject = subject[:1].upper() + subject[1:]
    if rng.random() < (0.2 if spam else 0.08):
        subject = rng.choice(("Re: ", "RE: ", "Fw: ", "[EXT] ")) + subject
    if rng.random() < (0.12 if spam else 0.05):
        subject = subject.upper() + rng.choice(("", "!", "!!!"))
    sender = _sender(rng, spam, group)
    if roll < 0.3:
        return body
    if roll < 0.42:
        return rng.choice(("Subject: {}\n\n{}", "{}\n\n{}", "Subject: {}\n{}", "Title: {}\nText: {}")).format(subject, body)
    if roll < 0.7:
        form = rng.choice(
            (
                "Sender: {}\n\nSubject: {}\n\nBody: {}",
                "From: {}\nSubject: {}\n\n{}",
                "From: {}\nSubject: {}\nBody:\n{}",
                "from {} | {} | {}",
            )
        )
        return form.format(sender, subject, body)
    keys = rng.choice(
        (
            ("from", "subject", "text"),
            ("sender", "subject", "body"),
            ("From", "Subject", "Body"),
            ("from_address", "title", "content"),
            ("sender", "headline", "message"),
            ("mail_from", "mail_subject", "mail_text"),
        )
    )
    value: dict[str, Content] = dict(zip(keys, (sender, subject, body), strict=True))
    if rng.random() < 0.2:
        del value[keys[rng.randrange(2)]]
    return value if rng.random() < 0.8 else {rng.choice(("email", "message", "mail")): value}


BINARY: dict[str, Label] = {
    "spam": (("spam", "Unwanted bulk mail, advertising or fraud"), ("junk", "unsolicited advertising, scams and the like"), ("unwanted", "Nobody asked for this message"), ("unsolicited", "Sent in bulk to sell or deceive"), ("block", "goes to the junk folder")),
    "ham": (("ham", "A message the recipient wants"), ("legitimate", "ordinary personal or business mail"), ("not spam", "Normal correspondence"), ("genuine", "Expected by the one who gets it"), ("deliver", "belongs in the inbox")),
}  # fmt: skip
GROUPS: dict[str, Label] = {
    "spam": (("spam", "Unsolicited advertising or fraud"), ("junk", "Unwanted mass mail"), ("unsolicited", "A pitch or a scam nobody asked for")),
    "newsletter": (("newsletter", "Regular news the reader subscribed to"), ("subscription", "Digest, club or shop news for members"), ("bulletin", "news for subscribers")),
    "personal": (("personal", "Between friends or family"), ("private", "From somebody the reader knows well"), ("family_and_friends", "private talk")),
    "business": (("business", "Work between colleagues, clients, developers"), ("work", "About projects, meetings, contracts, support"), ("professional", "work mail")),
    "notice": (("notification", "Order, account, appointment or system notice"), ("transactional", "Automatic notice on something the reader did"), ("automatic", "a receipt, reminder or alert")),
}  # fmt: skip
SPAM_ASKS = (
    "Is this spam, or did the recipient ask for it?", "Should the provider treat this as spam?", "Is this e-mail unsolicited bulk mail?", "spam_suspected", "Should this go to the junk folder?", "Would a mail filter block this?", "Would you throw this out unread as junk?", "The sender is spamming people.", "Is the recipient likely not to want this message?", "Does this look like spam to you, or like wanted mail?", "Unwanted advertising or a scam?",
    "Is this an unsolicited message sent to many people?", "Decide whether a filter ought to call it spam.", "Should the spam filter catch it?", "to_junk_folder", "Is someone trying to sell or trick here without being asked?",
)  # fmt: skip
HAM_ASKS = (
    "Has the sender a proper reason to write to this reader?", "Should this message reach the inbox?", "Is this mail wanted by its recipient?", "Did the reader expect or want this?", "Is it safe to deliver this message?", "Is this ordinary correspondence?", "Is this genuine mail?", "The message is no spam, let it through.", "Is it free of tricks and unasked advertising?", "deliver_to_inbox",
)  # fmt: skip
CRITERIA = (
    ("the message is unsolicited advertising or fraud", "it is a normal message"), ("spam: bulk offers, scams, phishing", "ham: personal, work or expected mail"), ("nobody asked for this and it sells or deceives", "the recipient knows or expects the sender"), ("unasked selling or a trick", "mail with a proper reason"), ("a filter should stop it", "a filter should let it pass"),
)  # fmt: skip
CHOOSE = ("Deliver or discard?", "Classify the message.", "Classify this e-mail.", "Which folder does it belong in?", "What kind of message is this?", "Label the mail.", "category", "Unwanted or expected?", "Sort this message.", "How should the filter treat it?")  # fmt: skip


def message(rng: random.Random) -> Iterator[Example]:
    """One e-mail or text message, and one to three questions about it."""
    spam = rng.random() < 0.5
    sms = rng.random() < 0.18
    group = rng.choice(("advert", "advert", "fraud") if spam else ("personal", "business", "business", "notice", "newsletter"))
    if sms:
        text = _surface(rng, spin(rng, rng.choice(spam_texts.SMS if spam else ham_texts.SMS)), False)
        state = wrap(rng, text, ("sms", "message", "text"))
    else:
        state = _state(rng, group, spam)
    gold = "spam" if spam else "ham"
    yield noul(rng, "made:message_spam", state, spam, SPAM_ASKS, HAM_ASKS, rng.choice(CRITERIA))
    roll = rng.random()
    if roll < 0.6:
        yield choice(rng, "made:message_ham", state, CHOOSE, BINARY, gold)
    if roll > 0.45 and not sms:
        yield choice(rng, "made:message_group", state, CHOOSE[1:7], GROUPS, "spam" if spam else group)
    if rng.random() < 0.25 and not sms and group != "advert":
        asks = (
            "Is this an attempt at fraud?",
            "Does the sender try to deceive the reader?",
            "Is this a scam?",
            "Is someone after money or data by deceit?",
            "phishing or scam",
        )
        yield noul(
            rng, "made:message_fraud", state, spam, asks, ("Is the sender honest?", "Is it safe to do what the message says?")
        )
