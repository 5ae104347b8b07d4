# ruff: noqa: E501  (a table of texts, one a line)
"""Records whose fields are numbers, flags and kinds, each with the sentence that tells it and the conditions it may meet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .spin import spin


@dataclass(frozen=True)
class Number:
    """A count or amount: lowest and highest value, the sentence with ``{v}``, the condition with ``{c}`` ("more than 30")."""

    name: str
    span: tuple[int, int]
    says: str
    means: str

    def draw(self, rng: random.Random) -> int:
        low, high = self.span
        return round(low + (high - low) * rng.random() ** 2)

    def tell(self, rng: random.Random, value: Any) -> str:
        return spin(rng, self.says.replace("{v}", f"{value:,}" if rng.random() < 0.5 else str(value)))

    def bound(self, rng: random.Random, value: int) -> tuple[str, str, bool]:
        """A comparison near the value: in words, as an operator, and whether it holds."""
        limit = nice(rng, value, self.span)
        words, sign, holds = rng.choice(
            (
                (("more than {}", "over {}"), ">", value > limit),
                (("at least {}", "{} or more"), ">=", value >= limit),
                (("less than {}", "under {}"), "<", value < limit),
                (("at most {}", "no more than {}"), "<=", value <= limit),
            )
        )
        return rng.choice(words).format(f"{limit:,}"), f"{sign} {limit}", holds

    def condition(self, rng: random.Random, value: int, by_field: bool) -> tuple[str, bool]:
        words, sign, holds = self.bound(rng, value)
        if by_field:
            return f"{self.name} {rng.choice((sign, 'is ' + words))}", holds
        return spin(rng, self.means).replace("<c>", words), holds


@dataclass(frozen=True)
class Flag:
    """Something that is so or not: sentences for both (an empty one says nothing), and conditions for it and against it."""

    name: str
    says: tuple[str, str]
    means: str
    denies: str = ""

    def draw(self, rng: random.Random) -> bool:
        return rng.random() < 0.5

    def tell(self, rng: random.Random, value: Any) -> str:
        return spin(rng, self.says[0 if value else 1])

    def condition(self, rng: random.Random, value: bool, by_field: bool) -> tuple[str, bool]:
        against = bool(self.denies) and rng.random() < 0.3
        if by_field:
            return f"{self.name} is {'false' if against else 'true'}", value != against
        return spin(rng, self.denies if against else self.means), value != against


@dataclass(frozen=True)
class Kind:
    """One of several values, each with its sentence; the condition has ``<c>`` for one or two of them."""

    name: str
    values: dict[str, str]
    means: str

    def draw(self, rng: random.Random) -> str:
        return rng.choice(list(self.values))

    def tell(self, rng: random.Random, value: Any) -> str:
        return spin(rng, self.values[str(value)])

    def condition(self, rng: random.Random, value: str, by_field: bool) -> tuple[str, bool]:
        asked = [value] if rng.random() < 0.5 else [rng.choice([v for v in self.values if v != value])]
        if len(self.values) > 3 and rng.random() < 0.35:
            asked.append(rng.choice([v for v in self.values if v not in asked]))
        text = " or ".join(asked)
        if by_field:
            return f"{self.name} is {text}", value in asked
        return spin(rng, self.means).replace("<c>", text), value in asked


Field: TypeAlias = Number | Flag | Kind
NICE = (2, 3, 4, 5, 8, 10, 12, 15, 20, 25, 30, 45, 50, 60, 90, 100, 120, 150, 200, 250, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 10000, 20000, 50000)  # fmt: skip


def nice(rng: random.Random, value: int, span: tuple[int, int]) -> int:
    """A round limit near the value, inside the span; now and then the value itself."""
    fits = [n for n in NICE if span[0] < n < span[1]]
    if value in fits and rng.random() < 0.3:
        return value
    below, above = [n for n in fits if n <= value][-3:], [n for n in fits if n > value][:3]
    side = below if (rng.random() < 0.5 and below) or not above else above
    return rng.choice(side)


DOMAINS: dict[str, tuple[str, str, Sequence[Field]]] = {
    "incident": ("incident", "{Incident|Outage|Alert} {id}.", (
        Number("minutes_down", (1, 240), "{It has been down for {v} minutes|The failure has lasted {v} minutes so far|{v} minutes have passed since it went down}.", "{the failure has lasted <c> minutes|it has been down for <c> minutes}"),
        Number("affected_users", (0, 4000), "{{v} users are affected|{v} users have been hit|We count {v} affected users}.", "<c> users are affected"),
        Number("error_rate_percent", (0, 100), "{{v} percent of requests fail|The error rate is at {v}%}.", "{<c> percent of requests fail|the error rate is <c> percent}"),
        Kind("region", {"eu": "{Only Europe is hit|It concerns the European region}.", "us": "{It is limited to the US|Only the American region is hit}.", "asia": "{The Asian region is hit|Customers in Asia see it}.", "global": "{It is seen in every region|All regions are hit}."}, "the region is <c>"),
        Flag("workaround", ("{There is a way around it|Users can switch to the old page meanwhile}.", "{No workaround is known|Nothing helps in the meantime}."), "{there is a workaround|a workaround exists}", "{there is no workaround|no workaround is known}"),
        Flag("data_loss", ("{Some records were lost|Part of the data cannot be recovered}.", "{No data was lost|All data is intact}."), "{data was lost|records were lost}", "no data was lost"),
        Flag("after_deploy", ("{It began right after a deploy|It started with the release of {time}}.", ""), "{it began with a deploy|a release preceded it}"),
        Flag("customer_facing", ("{Customers see it|It shows on the public site}.", "{Only an internal tool is concerned|No customer can see it}."), "{customers can see it|it is visible to customers}", "{only internal tools are concerned|customers do not see it}"),
        Flag("repeat", ("{The same thing happened last week|It is the second time this month}.", ""), "{it has happened before|it is a repeat}"),
    )),
    "ticket": ("ticket", "{Ticket|Case} {id}, from {full}.", (
        Kind("plan", {"free": "{They use the free plan|A free user}.", "team": "{They are on the team plan|A customer of the team plan}.", "business": "{They are on the business plan|A business customer}.", "enterprise": "{They are on the enterprise plan|An enterprise customer}."}, "{the plan is <c>|the customer's plan is <c>}"),
        Number("age_hours", (1, 120), "{It has been open for {v} hours|Waiting for {v} hours}.", "{it has been open for <c> hours|the customer has waited <c> hours}"),
        Number("seats", (1, 600), "{The account has {v} seats|{v} people use the account}.", "the account has <c> seats"),
        Number("earlier_tickets", (0, 12), "{{v} earlier tickets are on file|They have written {v} times before}.", "there are <c> earlier tickets"),
        Flag("blocked", ("{They cannot work until it is solved|Their work has stopped}.", "{They can go on working|Work goes on}."), "{the customer cannot work|the customer is blocked}", "{the customer can go on working|work is not stopped}"),
        Flag("angry", ("{The tone is angry|The writer shouts at us}.", "{The tone is friendly|It is written politely}."), "{the tone is angry|the writer is angry}", "the tone is not angry"),
        Flag("money_involved", ("{A payment of {money} is in question|It concerns a charge of {money}}.", ""), "{money is in question|a payment is concerned}"),
        Flag("asks_for_manager", ("{They ask for a manager|They want to talk to a manager}.", ""), "{a manager is asked for|the customer wants a manager}"),
        Flag("has_deadline", ("{They need it by {time} today|Their deadline is tonight}.", "{There is no deadline|Any day will do}."), "{there is a deadline|a deadline is named}", "no deadline is named"),
    )),
    "transaction": ("transaction", "{Transaction|Payment} {id}.", (
        Number("amount", (5, 9000), "{The amount is {v} euros|{v} euros were to be paid}.", "the amount is <c> euros"),
        Number("account_age_days", (0, 900), "{The account is {v} days old|The account was opened {v} days ago}.", "the account is <c> days old"),
        Number("attempts_last_hour", (1, 14), "{It is attempt number {v} within an hour|{v} attempts in the last hour}.", "there were <c> attempts within an hour"),
        Kind("channel", {"web": "{Made on the web|From a browser}.", "app": "{Made in the app|From the phone app}.", "phone": "{Made by telephone|Ordered over the phone}.", "terminal": "{Made at a card terminal|Card present at the till}."}, "the channel is <c>"),
        Flag("foreign_country", ("{The card is from another country|Card and buyer are in different countries}.", "{Card and buyer are in the same country|The card is domestic}."), "{the card is foreign|card and buyer are in different countries}", "{the card is domestic|card and buyer are in the same country}"),
        Flag("new_device", ("{The device has not been seen before|From a new device}.", "{From the usual device|The device is known}."), "{the device is new|the device was never seen before}", "{the device is known|the usual device was used}"),
        Flag("night", ("{At three in the morning|In the middle of the night}.", "{At noon|In the afternoon}."), "{it was made at night|it happened at night}", "it was made by day"),
        Flag("address_mismatch", ("{Billing and delivery address differ|It goes to another address than the bill}.", "{Both addresses are the same|It is delivered to the billing address}."), "{the addresses differ|delivery and billing address differ}", "{the addresses agree|both addresses are the same}"),
        Flag("chargeback_before", ("{The buyer has reversed a payment before|There was a chargeback last year}.", ""), "{there was a chargeback before|the buyer reversed a payment before}"),
    )),
    "log": ("log summary", "Log of host {code}.", (
        Number("errors_per_minute", (0, 300), "{{v} errors a minute|Errors per minute: {v}}.", "there are <c> errors a minute"),
        Number("disk_percent", (10, 100), "{The disk is {v} percent full|Disk usage stands at {v}%}.", "the disk is <c> percent full"),
        Number("latency_ms", (10, 4000), "{Requests take {v} ms|Mean latency is {v} ms}.", "{latency is <c> ms|requests take <c> ms}"),
        Number("restarts", (0, 12), "{The process was restarted {v} times|Restarts today: {v}}.", "there were <c> restarts"),
        Kind("environment", {"production": "{It is a production host|Production}.", "staging": "{It is a staging host|Staging}.", "test": "{It is a test machine|Test environment}."}, "{the environment is <c>|it is a <c> host}"),
        Flag("backup_ok", ("{The last backup succeeded|Backup of tonight: fine}.", "{The last backup failed|Backup of tonight: failed}."), "{the last backup succeeded|the backup is fine}", "{the last backup failed|the last backup did not succeed}"),
        Flag("out_of_memory", ("{A process was killed for memory|It ran out of memory}.", ""), "{it ran out of memory|a process was killed for memory}"),
        Flag("unknown_login", ("{An unknown key logged in as root|There was a login from an unknown address}.", ""), "{there was an unknown login|somebody unknown logged in}"),
        Flag("maintenance", ("{Maintenance is going on|A maintenance window is open}.", "{No maintenance is going on|It is not under maintenance}."), "{maintenance is going on|it is under maintenance}", "{no maintenance is going on|it is not under maintenance}"),
        Flag("alerts_muted", ("{Alerts are muted|Its alerts are switched off}.", "{Alerts are live|Its alerts are switched on}."), "{alerts are muted|alerts are switched off}", "{alerts are live|alerts are switched on}"),
    )),
    "review": ("review", "Review {id}.", (
        Number("stars", (1, 5), "{{v} of 5 stars|Stars: {v}}.", "it gives <c> stars"),
        Number("words", (3, 600), "{It is {v} words long|{v} words}.", "it has <c> words"),
        Number("helpful_votes", (0, 80), "{{v} people found it helpful|Helpful votes: {v}}.", "<c> people found it helpful"),
        Flag("verified", ("{The purchase is verified|The reviewer bought it here}.", "{The purchase is not verified|No purchase is on record}."), "{the purchase is verified|the reviewer bought it here}", "the purchase is not verified"),
        Flag("photo", ("{A photo is included|It comes with pictures}.", "{There is no photo|Text only}."), "{there is a photo|it includes a photo}", "there is no photo"),
        Flag("mentions_competitor", ("{It praises another shop|A rival product is named}.", ""), "{a competitor is named|another shop or product is named}"),
        Flag("insulting", ("{It calls the staff names|It insults the seller}.", ""), "{it is insulting|somebody is insulted}"),
        Flag("safety_issue", ("{The plug got hot|The writer was hurt by a sharp edge}.", ""), "{a danger to people is described|safety is at stake}"),
        Flag("link", ("{It links to another site|It contains a web address}.", ""), "{it contains a link|there is a link in it}"),
    )),
    "agent": ("agent's action", "{Step|Action} {n} of the agent.", (
        Kind("tool", {"read_file": "{It opened a file|It read a file}.", "write_file": "{It wrote a file|It changed a file}.", "run_command": "{It ran a command|It used the shell}.", "send_message": "{It sent a message|It wrote to somebody}."}, "the tool is <c>"),
        Number("files_changed", (0, 60), "{{v} files were changed|Files changed: {v}}.", "<c> files were changed"),
        Number("cost_cents", (0, 400), "{It cost {v} cents|Cost of the step: {v} cents}.", "it cost <c> cents"),
        Flag("user_approved", ("{The user had approved it|It was confirmed by the user}.", "{The user had not been asked|No one had confirmed it}."), "{the user approved it|it was confirmed}", "{the user did not approve it|nobody confirmed it}"),
        Flag("reversible", ("{It can be undone|A copy was kept}.", "{It cannot be undone|No copy was kept}."), "{it can be undone|it is reversible}", "{it cannot be undone|it is irreversible}"),
        Flag("outside_workspace", ("{It left the project folder|It touched files outside of the project}.", "{It stayed inside the project|Only the project folder was touched}."), "{it left the project folder|something outside of the project was touched}", "it stayed inside the project"),
        Flag("secret_read", ("{A password was read|It printed an API key}.", ""), "{a secret was read|a password or key was exposed}"),
        Flag("tests_pass", ("{All tests pass afterwards|The tests are green}.", "{Two tests fail afterwards|The tests are red}."), "{the tests pass|all tests are green}", "{tests fail|the tests are red}"),
        Flag("error", ("{It ended with an error|The tool returned an error}.", ""), "{it ended with an error|the tool reported an error}"),
    )),
    "delivery": ("delivery", "{Parcel|Delivery} {id}.", (
        Number("days_late", (0, 30), "{It is {v} days late|{v} days past the promised date}.", "it is <c> days late"),
        Number("value", (5, 2500), "{The goods are worth {v} dollars|Value: {v} dollars}.", "the goods are worth <c> dollars"),
        Number("weight_kg", (1, 70), "{It weighs {v} kg|Weight: {v} kg}.", "it weighs <c> kg"),
        Kind("service", {"standard": "{Standard service|Sent by standard service}.", "express": "{Express service|Sent by express}.", "freight": "{Freight|Sent as freight}.", "pickup": "{To be picked up|For pick-up at a shop}."}, "the service is <c>"),
        Flag("damaged", ("{The box is crushed|The seal is broken}.", "{The box is intact|Nothing is damaged}."), "{it is damaged|there is damage}", "{it is undamaged|nothing is damaged}"),
        Flag("perishable", ("{It contains fresh food|The content spoils}.", ""), "{the content spoils|it is perishable}"),
        Flag("signed", ("{Somebody signed for it|There is a signature}.", "{Nobody signed for it|The signature is missing}."), "{it was signed for|there is a signature}", "{nobody signed for it|there is no signature}"),
        Flag("customs", ("{It is held at customs|Customs wants papers}.", ""), "{it is held at customs|customs is involved}"),
        Flag("second_attempt", ("{The first attempt failed|It is the second attempt}.", ""), "{a delivery attempt has failed|it is not the first attempt}"),
    )),
    "login": ("sign-in", "Sign-in {id} of {full}.", (
        Number("failed_tries", (0, 20), "{{v} tries failed before|It followed {v} failed tries}.", "<c> tries failed before"),
        Number("distance_km", (0, 9000), "{{v} km from the last place|The last sign-in was {v} km away}.", "the place is <c> km from the last one"),
        Number("days_since_last", (0, 400), "{The last sign-in was {v} days ago|{v} days since the last one}.", "the last sign-in was <c> days ago"),
        Kind("role", {"guest": "{A guest account|The role is guest}.", "member": "{A member account|The role is member}.", "admin": "{An administrator|The role is admin}.", "owner": "{The owner of the account|The role is owner}."}, "the role is <c>"),
        Flag("second_factor", ("{The second factor was given|A code from the phone was entered}.", "{No second factor was given|Only the password was used}."), "{a second factor was used|the second factor was given}", "{no second factor was used|only the password was used}"),
        Flag("known_network", ("{From the office network|The network is known}.", "{From an unknown network|The network was never seen}."), "{the network is known|it comes from a known network}", "{the network is unknown|it comes from an unknown network}"),
        Flag("password_leaked", ("{The password is on a leaked list|The password was published}.", ""), "{the password has leaked|the password is on a leaked list}"),
        Flag("bulk_download", ("{Right after, {nn}0 files were downloaded|A large download followed}.", ""), "{a large download followed|many files were downloaded after it}"),
    )),
    "expense": ("expense claim", "Claim {id} by {full}.", (
        Number("total", (4, 1800), "{The total is {v} euros|{v} euros are claimed}.", "the total is <c> euros"),
        Number("days_old", (1, 200), "{The expense is {v} days old|It dates from {v} days ago}.", "the expense is <c> days old"),
        Number("guests", (0, 12), "{{v} guests took part|Guests: {v}}.", "<c> guests took part"),
        Kind("category", {"meal": "{A meal|It is for a meal}.", "hotel": "{A hotel|It is for a hotel}.", "travel": "{A train ticket|It is for travel}.", "equipment": "{Equipment|It is for equipment}."}, "the category is <c>"),
        Flag("receipt", ("{The receipt is attached|There is a receipt}.", "{The receipt is missing|There is no receipt}."), "{there is a receipt|a receipt is attached}", "{the receipt is missing|there is no receipt}"),
        Flag("approved_before", ("{The manager had agreed beforehand|It was approved in advance}.", "{Nobody had agreed beforehand|It was not approved in advance}."), "{it was approved in advance|a manager agreed beforehand}", "{it was not approved in advance|nobody agreed beforehand}"),
        Flag("alcohol", ("{Wine is on the bill|Two beers are listed}.", ""), "{alcohol is on the bill|alcoholic drinks are listed}"),
        Flag("private_share", ("{Part of it was private|The partner came along}.", ""), "{part of it was private|private costs are included}"),
        Flag("foreign_currency", ("{Paid in another currency|The bill is in francs}.", ""), "{a foreign currency is used|it was paid in another currency}"),
    )),
    "message": ("message", "Message {id} in the channel.", (
        Number("recipients", (1, 900), "{It went to {v} people|{v} recipients}.", "it went to <c> people"),
        Number("links", (0, 12), "{It holds {v} links|Links: {v}}.", "it holds <c> links"),
        Number("reports", (0, 30), "{{v} readers reported it|Reports so far: {v}}.", "<c> readers reported it"),
        Kind("sender", {"staff": "{Written by staff|The sender is staff}.", "customer": "{Written by a customer|The sender is a customer}.", "bot": "{Written by a bot|The sender is a bot}.", "stranger": "{Written by a stranger|The sender is unknown}."}, "the sender is <c>"),
        Flag("threat", ("{It threatens somebody|It says that someone will get hurt}.", ""), "{it contains a threat|somebody is threatened}"),
        Flag("phone_number", ("{A phone number is in it|It gives a private number}.", ""), "{a phone number is given|it contains a phone number}"),
        Flag("names_person", ("{It names a colleague|A person is named}.", "{Nobody is named|No person is named}."), "{a person is named|somebody is named}", "nobody is named"),
        Flag("edited", ("{It was edited later|It has been changed since}.", "{It was never edited|It stands as it was written}."), "it was edited", "it was not edited"),
        Flag("asks_password", ("{It asks for a password|Readers are to type in their password}.", ""), "{a password is asked for|it asks for a password}"),
    )),
}  # fmt: skip
