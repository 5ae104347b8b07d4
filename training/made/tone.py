# ruff: noqa: E501  (a table of texts, one a line)
"""Customer and chat messages whose tone lies in the situation, and first-person stories whose emotion does."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .ask import Label, choice, noul, score, wrap
from .spin import spin

# What the writer reports; few of these name a feeling.
TELLS: dict[str, tuple[str, ...]] = {
    "calm": (
        "{The button for the export|The menu on the settings page} {is in a new place|has moved} since the update.", "{Could you|Can you} tell me {where the invoices are kept|how many seats our plan has|which browsers you support}?", "{One|A single} {user|page} {is slow|sees an old logo}; {everyone else is fine|a reload helps}.", "Please {change|update} our {billing address|contact person} to {full}{| from {date}}.",
        "The report of {month} shows {nn} rows, I expected {nn}. {It can wait|We only need it next quarter}.", "{For your information|Just a note}: the link on your help page {leads to the old manual|has a typo}.", "{We plan|I am planning} to move {nn} users {in {month}|next year} and {would like to know the steps|am collecting information}.", "My order {id} {arrived on {day}|has {n} items}; I would like to exchange {one shirt|the cable} for another size.",
        "I tested version {n}.{n} on {n} machines. {Results are attached|Two settings are not documented}.", "{When does the trial end|Is there an API for the calendar|Does the price include tax}?", "The {door code|projector} in room {nn} {is unchanged|works again}. {No action is needed|Closing the ticket}.", "We had a short interruption at {time}; {it recovered by itself|all jobs were repeated}.",
    ),
    "happy": (
        "{The export|The new search} {saves me {n} hours a week|works on the first try}, {my whole team is using it now|well done}!", "{You fixed it within {nn} minutes|The replacement was here the next morning}, {I have never seen that from any company|wow}.", "{Our launch went through without a hitch|We reached {nn},000 users today} {thanks to you|on your platform}!", "{Please pass my thanks to {name}|{name} stayed on the line until it worked}; {that made my day|a real star}.",
        "{The kids have not put it down since|My mother, {nn}, set it up alone}!", "{I told all my colleagues about you|We just signed for {n} more years}.", "{Finally dark mode|You added the calendar}! {Exactly what I wished for|I could hug you}.", "I expected {a long fight|weeks of waiting}, and it took {n} minutes.",
    ),
    "frustrated": (
        "{This is the {third|4th|fifth} time I write about|I have now explained {n} times} {the same error|order {id}}, {and nothing has changed|and each agent asks from the start}.", "I have {been on hold for {nn} minutes|tried everything in your guide, twice}, and {got cut off again|it still does not work}.", "{I have been trying to {connect the account|get an invoice|install it} for {n} days|{n} evenings went into the setup}.", "{Every update breaks something else|You close my ticket each time without a fix}.",
        "{Your chatbot keeps sending me the same article|I only get automatic replies}. {Is there a human there|Does anybody read this}?", "{Everybody waits for this fix since {month}|I was promised a call on {day}, then on {day}}, {still nothing|no one called}.", "{The form loses all I typed|The app logs me out} {each time|every {n} minutes}, {I start over again and again|I have given up for today}.", "{We pay {money} a month and cannot even|Half of my day is gone and I still cannot} {print a label|open a file}.",
        "Once more the parcel {went to the wrong address|was not delivered although I stayed home all day}.", "{Nobody answers|No reply} {on any channel|to my {n} mails} since {day}.",
    ),
    "angry": (
        "{You took {money} from my account without asking|You charged a card I removed in {month}} and {now you tell me it is my fault|hide behind your terms}.", "{Cancel everything|Close my account today}. {I will tell everyone what you did|You will hear from my lawyer}.", "{I want the name of your manager|Put someone in charge on the phone}, {and spare me the excuses|now}!", "{How dare you|Who gave you the right to} {delete my files|share my number|raise the price} without a word{?|?!}",
        "{Your driver threw the box over the fence|Your agent laughed at me and hung up}. {Do you take us for fools|Is that how you treat people}?!", "{LIARS|Thieves}. {{n} weeks of lies about my refund|You said it was sent, it never was}!", "{I HAVE HAD IT|ENOUGH}! {GIVE ME MY MONEY|FIX THIS OR I GO TO THE PRESS}!", "{Do not send me another survey|Keep your {n} dollar voucher} after {ruining our wedding|killing our sales day}.",
        "{What do I pay you for|Are you asleep over there}?? {Nothing works and you send smileys|{nn} calls and not one answer}!", "{Never again|A shameless rip-off}. {The worst service I ever dealt with|I am done with you people}.",
    ),
    "worried": (
        "{The whole site is|All our systems are} {offline|unreachable} and {the client arrives at {time}|we go on air in {nn} minutes}.", "{Nothing works any more|No page loads} and {I cannot reach anyone|nobody picks up the phone}.", "{All customer data is gone|The table with the orders is empty} {since the update|after the import}, {and I find no backup|please tell me it can be restored}.", "{Someone logged in from {city} at night|There are payments of {money} I did not make}, {what have they seen|are our accounts still safe}?",
        "{My flight leaves in {n} hours|The exam starts at {time}} and {the ticket does not open|I am locked out}.", "{Payroll is due today and|{nn} people wait for their salary and} {the transfer is stuck|the file is rejected}.", "{My daughter's medicine is in that parcel|The visa is in the envelope} and {tracking has stopped|it should be here since {day}}.", "{If this fails again we lose the contract|The auditors come tomorrow} and {half of the records are missing|the report is empty}.",
        "{Every minute orders are lost|The queue grows by {nn}0 a minute} and {the server does not come back|I do not know what else to try}.", "{The battery is hot and smells|There is smoke from the adapter}, {is it safe to leave it|what should I do}?", "{Everything has stopped|The shop is dead} {in the middle of our sale|an hour before the opening}, {please, anyone|what now}?",
    ),
}  # fmt: skip
BACKGROUND = (
    "", "", "", "", "We use the {team|business|free} plan.", "I work for {co}.", "My customer number is {id}.", "{Order|Case|Ticket} {id}.", "I use the app on {a phone|two laptops|a tablet}.", "We are based in {city}.", "I have been a customer since {year}.", "This is about {the mobile app|the web shop|the router|our subscription}.",
    "You can reach me at {phone}.", "My colleague {name} is in copy.", "Version {n}.{n}.{n}.", "It began on {day}.",
)  # fmt: skip
OPEN = ("", "", "", "Hi,", "Hello,", "Hi team,", "Dear support,", "Good morning,", "Hey,", "To whom it may concern,")
CLOSE = ("", "", "", "", "{name}", "{full}, {co}", "Regards, {name}", "Thanks, {name}", "Sent from my phone")
TONES: dict[str, Label] = {
    "calm": (("calm", "Matter of fact, no emotion"), ("neutral", "States facts or asks, unmoved"), ("composed", "relaxed")),
    "happy": (("happy", "Pleased or grateful"), ("satisfied", "praises something"), ("delighted", "glad about it")),
    "frustrated": (("frustrated", "Tried repeatedly, running out of patience"), ("annoyed", "fed up with delays or repetition"), ("exasperated", "nothing gets solved in spite of all efforts")),
    "angry": (("angry", "Accuses, threatens or shouts"), ("furious", "outraged, hostile"), ("enraged", "attacks the company")),
    "worried": (("worried", "Under pressure, fears a bad outcome"), ("stressed", "In an emergency or short of time"), ("anxious", "alarmed, needs help at once")),
}  # fmt: skip
TONE_ASKS = (
    "What is the tone?",
    "How does the customer feel?",
    "tone",
    "Mood of the writer?",
    "Which emotion does the message carry?",
    "How does the writer come across?",
    "Emotional state of the customer",
    "Classify the tone of the message.",
)
CALM = (
    "Is the customer calm?",
    "Is the tone calm?",
    "Does the writer sound relaxed?",
    "Is this written without agitation?",
    "calm",
    "Is the customer composed?",
    "The writer is calm.",
)
UPSET = (
    "Is the customer upset?",
    "Is the writer agitated or under stress?",
    "Is there negative emotion in this message?",
    "Is something weighing on the writer?",
    "Does the customer need to be reassured or calmed down?",
)
ANGER_ASKS = (
    "How angry is the customer?",
    "How upset is the writer?",
    "Level of anger",
    "Rate the customer's irritation.",
    "How heated is the message?",
    "frustration",
    "How annoyed does the author sound?",
)
ANGER = (
    ("no irritation", "some irritation", "strong anger"),
    ("calm", "frustrated", "angry"),
    ("content", "displeased", "enraged"),
)
STRAIN = (
    ("calm", "annoyed", "furious"),
    ("calm", "tense", "enraged"),
    ("relaxed", "upset", "outraged"),
    ("at ease", "under strain", "hostile"),
)
"""Scales whose middle also fits a writer who is alarmed rather than annoyed."""
URGENT = (
    "Is this urgent?",
    "Does the customer need a reply within the hour?",
    "Does this message express urgency?",
    "Must someone act at once?",
    "Is time running out?",
    "Should this jump the queue?",
    "urgent",
)
QUEUES: dict[str, Label] = {
    "now": (("urgent", "Has to be handled at once"), ("immediate", "waiting does harm"), ("p1", "act within the hour")),
    "later": (("routine", "Can wait for days"), ("low priority", "nothing is lost by waiting"), ("p4", "some time this month")),
}  # fmt: skip
HAPPY = ("Is the customer satisfied?", "Is this praise?", "Is the writer pleased?", "Would this customer recommend us?")
UNHAPPY = ("Is this a complaint?", "Is the customer unhappy?", "Is the writer dissatisfied?")
RELAXED = ("Can this wait a few days?", "Is there plenty of time to answer?", "Is this low priority?")


def tone(rng: random.Random) -> Iterator[Example]:
    """A message to support or in a chat: what it tells decides how the writer feels and whether it is urgent."""
    felt = rng.choice(("calm", "calm", "happy", "frustrated", "angry", "worried", "worried"))
    parts = rng.sample(TELLS[felt], rng.choice((1, 1, 1, 2, 2, 3)))
    parts.insert(rng.randint(0, len(parts)), rng.choice(BACKGROUND))
    text = " ".join(spin(rng, p) for p in parts if p)
    text = f"{rng.choice(OPEN)} {text} {spin(rng, rng.choice(CLOSE))}".strip()
    roll = rng.random()
    if roll < 0.15:
        text = text.lower()
    elif roll < 0.25:
        text = text.replace(". ", "! ") if roll < 0.2 and felt != "calm" else text.replace("!", ".")
    state = wrap(
        rng, text, ("message", "ticket", "text", "body", "chat"), channel=rng.choice(("mail", "chat", "phone note", "web form"))
    )
    asked = rng.random()
    if asked < 0.6:
        yield choice(rng, "made:tone", state, TONE_ASKS, TONES, felt)
    if felt == "happy":  # glad people may be calm or not, but nothing weighs on them
        yield noul(rng, "made:tone_calm", state, False, UPSET)
    elif asked > 0.4 or felt == "calm":
        yield noul(rng, "made:tone_calm", state, felt == "calm", CALM, UPSET)
    if rng.random() < 0.6:
        level = {"calm": 0, "happy": 0, "angry": 2}.get(felt, 1)
        yield score(rng, "made:tone_anger", state, level, ANGER_ASKS, STRAIN if felt == "worried" else ANGER + STRAIN)
    if felt in ("calm", "happy", "worried"):
        yield noul(rng, "made:tone_urgent", state, felt == "worried", URGENT, RELAXED)
    if felt == "happy" or (felt in ("frustrated", "angry") and rng.random() < 0.3):
        yield noul(rng, "made:tone_happy", state, felt == "happy", HAPPY, UNHAPPY)


# Deadlines politely told, and faults that have time: only urgency is asked of them.
SOON = (
    "{Could you|Please} {resend the tickets|correct the name on the booking} before {time} today? {The gate closes then|We leave right after}.", "The {presentation|hearing|broadcast} begins in {nn} minutes and {the file does not open|I need the code}. Thank you.", "{Our card terminal|The only till} stopped, {customers are standing in line|the shop is full}.", "{The heating|The fridge with the vaccines} {has failed|shows {nn} degrees}, {please send someone|a technician is needed}.",
    "{The offer|Our domain|The certificate} expires {tonight|in {n} hours}, and the {renewal|payment} does not go through.", "{We are at the airport and|The guests have arrived and} {the booking cannot be found|the door code is rejected}.", "{Customers see each other's invoices|A key of ours is public on the web}, {since {time}|as of now}.", "I have {been trying to go live|waited for access} for {n} days and {the launch is today|the trial ends at {time}}.",
)  # fmt: skip
LATER = (
    "{The logo|One icon} is {blurred|a bit too small} on the {help|about} page.", "{We might move|We think of moving} to {city} next year, {would our plan still fit|what would change}?", "The deadline was moved to {next quarter|the end of the year}, so {take your time|any time is fine}.", "{Not urgent|No rush}: {the demo|the launch} is over and {I have a question for next time|went well}. {How do we archive it|Where are the slides}?",
    "{An idea|A wish} for {a later version|some day}: {sort the list by date|a bigger font}.", "It crashed once in {month}, {never again since|and I only write to let you know}.", "{Our outage is resolved|The emergency from {day} is over}, {please close the case|send the report when it is ready}.",
)  # fmt: skip


def hurry(rng: random.Random) -> Iterator[Example]:
    """A message that cannot wait, or one that can, without saying so by mood."""
    soon = rng.random() < 0.5
    parts = [rng.choice(SOON if soon else LATER), rng.choice(BACKGROUND)]
    if rng.random() < 0.4:
        parts.reverse()
    text = f"{rng.choice(OPEN)} {' '.join(spin(rng, p) for p in parts if p)} {spin(rng, rng.choice(CLOSE))}".strip()
    state = wrap(rng, text, ("message", "ticket", "text", "body"))
    yield noul(rng, "made:hurry_urgent", state, soon, URGENT, RELAXED, ("waiting would do harm", "nothing is lost by waiting"))
    if rng.random() < 0.5:
        yield choice(
            rng,
            "made:hurry_queue",
            state,
            ("How fast must we act?", "priority", "Which queue?"),
            QUEUES,
            "now" if soon else "later",
        )
