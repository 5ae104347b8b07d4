# ruff: noqa: E501  (a table of texts, one a line)
"""Encyclopedia sentences about invented people, places, works and organisations, and questions that one of them answers.

Each kind of subject has attributes; each attribute several questions, and several sentences that state it. Between question and
sentence the words mostly differ, and other sentences about the same subject share more words with the question than the answer may.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .relevance import cases
from .spin import CITIES, FIRST, LAST, MONTHS, spin

SYLLABLES = [
    "al",
    "ver",
    "ton",
    "mar",
    "lin",
    "ka",
    "dor",
    "es",
    "bry",
    "nor",
    "wick",
    "hel",
    "sa",
    "ren",
    "gar",
    "tov",
    "min",
    "ost",
    "pel",
    "rad",
    "sul",
    "ten",
    "ul",
    "vas",
    "wen",
    "yar",
    "zel",
    "bo",
    "cri",
    "dun",
    "fal",
    "gren",
    "hol",
    "jas",
    "kor",
    "lum",
]
NOUNS = [
    "Glass",
    "River",
    "Winter",
    "Lantern",
    "Orchard",
    "Harbor",
    "Silence",
    "Mirror",
    "Garden",
    "Crown",
    "Letter",
    "Shadow",
    "Summer",
    "Bridge",
    "Tide",
    "Ember",
    "Wolf",
    "Clock",
    "Island",
    "Raven",
    "Stone",
    "Promise",
    "Road",
    "Star",
]
COUNTRIES = [
    "Norway",
    "Portugal",
    "Kenya",
    "Chile",
    "Japan",
    "Poland",
    "Canada",
    "Ireland",
    "Vietnam",
    "Greece",
    "Morocco",
    "Finland",
    "Peru",
    "Austria",
    "Ghana",
    "India",
    "Hungary",
    "Mexico",
    "Estonia",
    "Brazil",
]
FIELDS = (
    "chemistry",
    "marine biology",
    "linguistics",
    "astronomy",
    "law",
    "number theory",
    "geology",
    "medicine",
    "economics",
    "philosophy",
    "botany",
    "civil engineering",
    "archaeology",
)
SPORTS = ("rowing", "fencing", "table tennis", "cycling", "water polo", "judo", "ski jumping", "handball", "sailing", "badminton")
GENRES = (
    "crime novel",
    "comedy",
    "ballad",
    "documentary",
    "historical drama",
    "satire",
    "thriller",
    "musical",
    "fable",
    "science fiction story",
)
METALS = (
    "copper",
    "tin",
    "amber",
    "salt",
    "silver",
    "slate",
    "timber",
    "wool",
    "cotton",
    "coffee",
    "tea",
    "sugar",
    "fish",
    "coal",
    "wine",
    "olive oil",
    "marble",
    "pearls",
)
ANIMALS = (
    "beetles",
    "mice",
    "crabs",
    "snails",
    "berries",
    "seeds",
    "small fish",
    "earthworms",
    "moss",
    "fruit",
    "caterpillars",
    "grass",
    "nectar",
    "frogs",
)


def _place(rng: random.Random) -> str:
    return "".join(rng.sample(SYLLABLES, rng.choice((2, 2, 3)))).capitalize() + rng.choice(
        ("", "", "", "berg", "ford", "stad", "ia", "mouth", "holm")
    )


def _person(rng: random.Random) -> str:
    last = rng.choice(LAST) if rng.random() < 0.6 else _place(rng)
    return f"{rng.choice(FIRST)} {rng.choice((rng.choice('ABCDEFGHJKLMNPRSTW') + '. ', '', '', 'van ', 'de '))}{last}"


def _title(rng: random.Random) -> str:
    a, b = rng.sample(NOUNS, 2)
    return rng.choice(
        (f"The {a} {b}", f"{a} of {b}s", f"The Last {a}", f"{a} and {b}", f"Beyond the {a}", f"A {a} for {rng.choice(FIRST)}")
    )


def _when(rng: random.Random) -> str:
    year = rng.randint(1480, 2020)
    return rng.choice(
        (
            f"in {year}",
            f"in {rng.choice(MONTHS)} {year}",
            f"on {rng.randint(1, 28)} {rng.choice(MONTHS)} {year}",
            f"in the {rng.choice(('spring', 'summer', 'autumn', 'winter'))} of {year}",
        )
    )


def _values(rng: random.Random) -> dict[str, str]:
    """What the slots of the sentences stand for, drawn anew for each sentence."""
    n = rng.randint(3, 990)
    return {
        "when": _when(rng), "who": _person(rng), "who2": _person(rng), "town": rng.choice((_place(rng), rng.choice(CITIES))), "land": rng.choice(COUNTRIES), "num": str(n), "big": f"{n},{rng.randint(100, 999)}",
        "few": rng.choice(("two", "three", "four", "five", "six", "seven", "nine", "eleven", "twelve")), "field": rng.choice(FIELDS), "sport": rng.choice(SPORTS), "genre": rng.choice(GENRES), "goods": " and ".join(rng.sample(METALS, 2)),
        "food": " and ".join(rng.sample(ANIMALS, 2)), "title": _title(rng), "river": _place(rng), "pct": str(rng.randint(4, 93)),
    }  # fmt: skip


# kind -> attribute -> (questions, sentences); {s} is the subject, {it} how a later sentence may call it
KINDS: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "person": {
        "birth": (("When was {s} born?", "What is {s}'s date of birth?", "In what year did {s} come into the world?"), ("{s} was born {when} as the youngest of {few} children.", "The eldest child of a {genre} writer, {s} was born {when}.", "{s} (born {when}) grew up with an aunt.", "{when2}, {s} came into the world during a storm.")),
        "birthplace": (("Where was {s} born?", "Which town is the birthplace of {s}?", "Where did {s} come from?"), ("{s} was born in {town} to a family of teachers.", "A native of {town}, {s} spoke the local dialect throughout life.", "{s} came from {town}, where the house of the family still stands.")),
        "death": (("How did {s} die?", "What was the cause of {s}'s death?", "What killed {s}?"), ("{s} succumbed to pneumonia after a short illness.", "{s} drowned while crossing the {river}.", "A fall from a horse ended {s}'s life.", "{s} died of tuberculosis, a few weeks after the last lecture.")),
        "study": (("What did {s} study?", "Which subject did {s} read at university?", "In what field is {s}'s degree?"), ("{s} enrolled in {field} at the University of {town}.", "After school {s} took a degree in {field}.", "{s} gave up a place at the conservatory to read {field}.")),
        "spouse": (("Who was {s} married to?", "Whom did {s} marry?", "What was the name of {s}'s spouse?"), ("{s} married the painter {who} {when}.", "At a dinner in {town} {s} met {who}, and they wed within a year.", "{s}'s spouse, {who}, kept a diary of those years.")),
        "children": (("How many children did {s} have?", "How large was {s}'s family?", "What is the number of {s}'s sons and daughters?"), ("{s} raised {few} sons and a daughter.", "Of {s}'s {few} children only one survived the war.", "{s} had {few} children, all of whom became musicians.")),
        "prize": (("Which award did {s} receive?", "What prize was {s} given?", "What honour did {s} win?"), ("{s} was awarded the {river} Medal {when}.", "The jury gave the {town} Prize to {s}.", "{s} received the Order of {land} from the president.")),
        "teacher": (("Who taught {s}?", "Under whom did {s} learn?", "Who was {s}'s mentor?"), ("{s} was a pupil of {who}.", "It was {who} who introduced {s} to the trade.", "{s} learned under {who} before opening a studio.")),
        "hobby": (("Which sport did {s} do?", "How did {s} spend free time?", "What was {s}'s hobby?"), ("A keen amateur, {s} practised {sport} well into old age.", "Weekends were reserved for {sport}, {s}'s great passion.", "{s} represented the university at {sport}.")),
        "why": (("Why did {s} leave {land}?", "What made {s} emigrate?", "For what reason did {s} go abroad?"), ("{s} emigrated because the censors had banned two essays.", "Unable to find work, {s} left the country {when}.", "To escape debts of {big} crowns, {s} went abroad.", "Threatened with arrest, {s} fled over the border.")),
    },
    "town": {
        "people": (("How many people live in {s}?", "What is the population of {s}?", "How many inhabitants does {s} have?"), ("The last census counted {big} inhabitants in {s}.", "{s} is home to about {big} people.", "With {big} residents, {s} is the second largest town of the district.")),
        "river": (("On which river does {s} lie?", "What river flows through {s}?", "Which waterway runs by {s}?"), ("{s} lies on the left bank of the {river}.", "The {river} winds through {s} before it reaches the sea.", "{s} grew up around a ford across the {river}.")),
        "mayor": (("Who is the mayor of {s}?", "Who governs {s}?", "Who heads the council of {s}?"), ("{who} has been mayor of {s} since the last election.", "The council of {s} is headed by {who}.", "Voters in {s} returned {who} to the town hall.")),
        "founded": (("When was {s} founded?", "How old is {s}?", "In which year was {s} established?"), ("{s} was founded {when} by monks.", "A charter issued {when} first names {s}.", "{s} goes back to a market established {when}.")),
        "trade": (("What is {s} known for producing?", "What goods came from {s}?", "Which products made {s} rich?"), ("{s} grew rich on {goods}.", "Merchants from {s} shipped {goods} as far as {land}.", "The economy of {s} long rested on {goods}.")),
        "fire": (("What destroyed the old centre of {s}?", "Why was the centre of {s} rebuilt?", "What disaster struck {s}?"), ("A fire that began in a bakery burned down half of {s}.", "{s} was levelled by an earthquake {when}.", "Floods of the {river} swept away the old houses of {s}.")),
        "name": (("Where does the name {s} come from?", "What does {s} mean?", "What is the origin of the name {s}?"), ("The name {s} derives from an old word for 'ford'.", "{s} means 'white hill' in the language of its first settlers.", "According to a legend, {s} is named after a shepherd called {river}.")),
        "height": (("At what altitude is {s}?", "How high above the sea is {s}?", "What is the elevation of {s}?"), ("{s} lies {num} metres above sea level.", "At an elevation of {num} m, {s} often sees snow in May.", "Perched {num} metres up, {s} overlooks the plain.")),
        "twin": (("Which town is {s} twinned with?", "What is the partner town of {s}?"), ("{s} has been twinned with {town}, {land}, since the eighties.", "A partnership links {s} to {town}.")),
        "station": (("How can one reach {s}?", "How is {s} connected to other towns?", "What transport links does {s} have?"), ("{s} is a stop on the line from {town} to the coast.", "Two trains an hour connect {s} with {town}.", "A ferry runs between {s} and {town}.")),
    },
    "work": {
        "author": (("Who wrote {s}?", "Who is the author of {s}?", "By whom is {s}?"), ("{s} is a {genre} by {who}.", "{who} completed {s} while in exile.", "{s} came from the pen of {who}.")),
        "date": (("When did {s} appear?", "When was {s} published?", "In which year did {s} come out?"), ("{s} appeared {when} in a small edition.", "First published {when}, {s} was soon out of print.", "The public first saw {s} {when}.")),
        "plot": (("What is {s} about?", "What happens in {s}?", "What is the story of {s}?"), ("{s} follows a lighthouse keeper who loses his memory.", "In {s}, two sisters inherit a failing hotel.", "{s} tells of a village that votes to leave the valley.", "The hero of {s} is a clerk who forges his own death.")),
        "sold": (("How many copies of {s} were sold?", "How well did {s} sell?", "What were the sales of {s}?"), ("{s} sold {big} copies in its first year.", "More than {big} copies of {s} went over the counter.", "Sales of {s} reached {big} by Christmas.")),
        "place": (("Where is {s} set?", "Where does {s} take place?", "What is the setting of {s}?"), ("{s} takes place in {town} during a heat wave.", "The action of {s} moves from {town} to the sea.", "{s} is set on a farm in {land}.")),
        "critics": (("How did critics receive {s}?", "What did reviewers say about {s}?", "What was the response to {s}?"), ("Critics called {s} tedious and overlong.", "Reviewers praised {s} for its dialogue.", "The press greeted {s} with indifference.")),
        "length": (("How long is {s}?", "How many pages or minutes does {s} have?", "What is the length of {s}?"), ("{s} runs to {num} pages.", "At {num} minutes, {s} is the longest of the series.", "The manuscript of {s} fills {num} sheets.")),
        "lead": (("Who played the lead in {s}?", "Who starred in {s}?", "Which actor had the main role in {s}?"), ("{who} took the main role when {s} was filmed.", "On stage, {s} gave {who} a first leading part.", "{who} starred in the screen version of {s}.")),
        "banned": (("Why was {s} banned?", "What made censors object to {s}?"), ("{s} was withdrawn because it mocked the king.", "A court forbade {s} on account of its violence.", "Censors objected to a scene of {s} in which a priest is robbed.")),
        "translator": (("Who translated {s}?", "Into which language was {s} translated first?"), ("{who} translated {s} into Polish.", "The first translation of {s}, into Greek, is the work of {who}.")),
    },
    "company": {
        "founder": (("Who founded {s}?", "Who started {s}?", "Who set up {s}?"), ("{s} was started by {who} in a rented garage.", "{who} and {who2} set up {s} {when}.", "The founder of {s}, {who}, had been a watchmaker.")),
        "seat": (("Where is {s} based?", "Where are the headquarters of {s}?", "In which city does {s} have its head office?"), ("{s} has its head office in {town}.", "Since the merger {s} has been run from {town}.", "{town} is the seat of {s}.")),
        "staff": (("How many people work for {s}?", "How many employees does {s} have?", "How big is the workforce of {s}?"), ("{s} employs {big} people.", "The workforce of {s} grew to {big}.", "Some {big} employees were on the payroll of {s} at its peak.")),
        "product": (("What does {s} make?", "What are the products of {s}?", "What does {s} sell?"), ("{s} trades in {goods}.", "{s} began with bicycles and now builds pumps.", "Most of {s}'s income comes from {goods}.", "{s} manufactures valves for breweries.")),
        "revenue": (("How much did {s} earn?", "What was the turnover of {s}?", "What revenue did {s} report?"), ("{s} reported a turnover of {num} million euros.", "Last year's revenue of {s} came to ${num} million.", "{s} took in {num} million, {pct} percent more than before.")),
        "bankrupt": (("Why did {s} fail?", "What led to the collapse of {s}?", "Why did {s} go bankrupt?"), ("{s} collapsed when its main customer cancelled all orders.", "Costly lawsuits drove {s} into insolvency.", "{s} closed after a fire at its only plant.")),
        "owner": (("Who owns {s}?", "To whom does {s} belong?", "Who bought {s}?"), ("{s} was sold to {who} for {num} million.", "A majority of {s} belongs to the {town} family trust.", "The pension fund of {land} holds {pct} percent of {s}.")),
        "boss": (("Who runs {s}?", "Who is the chief executive of {s}?", "Who leads {s}?"), ("{who} took over as chief executive of {s} {when}.", "{s} is led by {who}, a former pilot.", "Under {who}, its present head, {s} left the stock exchange.")),
    },
    "species": {
        "food": (("What does the {s} eat?", "What does the {s} feed on?", "What is the diet of the {s}?"), ("The {s} lives on {food}.", "Stomach samples of the {s} contained mostly {food}.", "At dusk the {s} hunts for {food}.")),
        "range": (("Where does the {s} live?", "What is the habitat of the {s}?", "In what kind of place is the {s} found?"), ("The {s} is confined to wet forests of {land}.", "In {land}, the {s} is found up to {num} metres.", "The {s} inhabits the shores of the {river}.")),
        "size": (("How large is the {s}?", "How long does the {s} get?", "What is the size of the {s}?"), ("An adult {s} measures {num} millimetres.", "The {s} weighs up to {num} grams.", "Females of the {s} reach {num} mm, males less.")),
        "young": (("How many eggs does the {s} lay?", "How many young does the {s} have?", "What is the clutch size of the {s}?"), ("The {s} lays {few} eggs in a shallow hollow.", "Each spring the {s} raises {few} young.", "Clutches of the {s} hold {few} eggs.")),
        "threat": (("Why is the {s} endangered?", "What threatens the {s}?", "What caused the decline of the {s}?"), ("Logging has reduced the {s} to {num} pairs.", "The {s} suffers from rats that were brought by ships.", "Drained wetlands are the reason for the decline of the {s}.")),
        "colour": (("What colour is the {s}?", "What does the {s} look like?", "How can the {s} be recognised?"), ("The {s} has a grey back and a yellow throat.", "Its striped tail sets the {s} apart.", "The {s} is brown with white spots.")),
        "found": (("Who first described the {s}?", "Who discovered the {s}?", "After whom is the {s} named?"), ("{who} described the {s} {when}.", "The {s} was named after {who}.", "The {s} was discovered by {who} on an island.")),
        "age": (("How old does the {s} get?", "What is the lifespan of the {s}?", "How long does the {s} live?"), ("In captivity the {s} reaches {num} months.", "Few individuals of the {s} survive their {few}th winter.", "The {s} lives for up to {few} years.")),
    },
    "battle": {
        "date": (("When was the {s} fought?", "When did the {s} take place?", "In which year was the {s}?"), ("The {s} was fought {when}.", "The armies met {when} in what is called the {s}.", "The {s} took place {when}.")),
        "winner": (("Who won the {s}?", "Which side was victorious in the {s}?", "To whom did the {s} bring victory?"), ("The {s} ended in a victory of {land} over its neighbours.", "{who} routed the enemy in the {s}.", "The {s} brought {who} the crown.")),
        "dead": (("How many died in the {s}?", "What were the losses in the {s}?", "How many soldiers fell in the {s}?"), ("The {s} cost {big} lives.", "Some {big} men fell in the {s}.", "Casualties of the {s} are put at {big}.")),
        "leader": (("Who commanded the army in the {s}?", "Who led the troops in the {s}?", "Which general fought the {s}?"), ("In the {s}, {who} commanded the left wing and the reserve.", "{who} led the infantry in the {s}.", "The command in the {s} lay with {who}.")),
        "cause": (("What caused the {s}?", "Why was the {s} fought?", "What led to the {s}?"), ("A quarrel over tolls on the {river} led to the {s}.", "The {s} was fought over the succession in {land}.", "The murder of an envoy provoked the {s}.")),
        "length": (("How long did the {s} last?", "What was the duration of the {s}?"), ("The {s} lasted {few} hours.", "After {few} days the {s} was over.")),
        "after": (("What were the consequences of the {s}?", "What followed the {s}?", "What resulted from the {s}?"), ("As a result of the {s}, {land} ceded two provinces.", "The {s} was followed by a truce of {few} years.", "After the {s} the alliance fell apart.")),
    },
    "building": {
        "architect": (("Who designed the {s}?", "Who was the architect of the {s}?", "Who drew the plans of the {s}?"), ("The {s} was designed by {who}.", "{who} drew the plans of the {s} at the age of thirty.", "The {s} is the only work of the architect {who}.")),
        "opened": (("When was the {s} opened?", "When was the {s} built?", "In which year was the {s} completed?"), ("The {s} was opened {when}.", "Work on the {s} was completed {when}.", "The queen inaugurated the {s} {when}.")),
        "height": (("How tall is the {s}?", "What is the height of the {s}?", "How high is the {s}?"), ("The {s} rises {num} metres above the square.", "With {num} m, the {s} was once the tallest in {land}.", "From base to tip the {s} measures {num} feet.")),
        "cost": (("How much did the {s} cost?", "What was the price of the {s}?", "How expensive was the {s}?"), ("The {s} cost {num} million, twice the estimate.", "The bill for the {s} came to {num} million crowns.", "Donors gave {num} million for the {s}.")),
        "use": (("What is the {s} used for today?", "What does the {s} house?", "What purpose does the {s} serve?"), ("Today the {s} houses a library.", "The {s} now serves as a school of {field}.", "Since the war the {s} has been a museum of {goods}.")),
        "visitors": (("How many people visit the {s}?", "How many visitors does the {s} have a year?"), ("The {s} draws {big} visitors a year.", "Each summer {big} people climb the {s}.")),
        "material": (("What is the {s} made of?", "Which material was used for the {s}?"), ("The {s} is built of red brick.", "Granite from {land} was used for the {s}.", "The {s} has an iron frame clad in glass.")),
        "where": (("Where is the {s}?", "In which town does the {s} stand?", "Where can the {s} be seen?"), ("The {s} stands in the centre of {town}.", "Visitors to {town} pass the {s} on their way to the harbour.", "The {s} overlooks the market of {town}.")),
    },
    "study": {
        "finding": (("What did the {s} find?", "What was the result of the {s}?", "What did the {s} show?"), ("The {s} found that sleep improved in {pct} percent of cases.", "According to the {s}, the drug had no effect.", "The {s} showed that yields fell by {pct} percent.")),
        "size": (("How many people took part in the {s}?", "How large was the sample of the {s}?", "How many subjects did the {s} have?"), ("The {s} included {big} adults.", "{num} volunteers took part in the {s}.", "The {s} drew on records of {big} patients.")),
        "money": (("Who paid for the {s}?", "Who funded the {s}?", "Where did the money for the {s} come from?"), ("The {s} was funded by a foundation in {town}.", "A maker of {goods} paid for the {s}.", "The ministry of {land} financed the {s}.")),
        "time": (("How long did the {s} take?", "Over what period did the {s} run?", "What was the duration of the {s}?"), ("The {s} ran for {few} years.", "Over {num} weeks, the {s} took daily samples.", "Data for the {s} were collected during {few} winters.")),
        "flaw": (("What is the weakness of the {s}?", "Why was the {s} criticised?", "What limits the {s}?"), ("The {s} lacked a control group.", "A weakness of the {s} is that all subjects were students.", "Critics noted that the {s} relied on memory.")),
        "author": (("Who conducted the {s}?", "Who led the {s}?", "Who was in charge of the {s}?"), ("The {s} was conducted by {who} at the University of {town}.", "{who}, who led the {s}, declined to comment.", "A team under {who} carried out the {s}.")),
    },
}  # fmt: skip
LATER = (
    "", "", "", "", "", " {Little else is known about it|Details are disputed|This is disputed by some|Sources disagree on the rest}.", ", {according to|as reported by} {a local paper|one chronicle|the archives}.", " {The matter is treated in several books|A plaque recalls it}.",
)  # fmt: skip
BEFORE = ("", "", "", "", "{According to the records|As far as is known|In fact|Notably|By most accounts}, ")


def _name(rng: random.Random, kind: str) -> str:
    place = _place(rng)
    match kind:
        case "person":
            return _person(rng)
        case "town":
            return place
        case "work":
            return _title(rng)
        case "company":
            return rng.choice(
                (
                    f"{place} {rng.choice(('Works', 'Group', 'Mills', 'Line', 'Motors', 'Press'))}",
                    f"{rng.choice(LAST)} & {rng.choice(LAST)}",
                    f"{place} AG",
                )
            )
        case "species":
            return f"{place.lower()} {rng.choice(('finch', 'shrew', 'gecko', 'carp', 'lynx', 'owl', 'orchid moth', 'tree frog'))}"
        case "battle":
            return f"{rng.choice(('Battle', 'Siege', 'Battle', 'Second Battle'))} of {place}"
        case "building":
            return f"{place} {rng.choice(('Tower', 'Bridge', 'Palace', 'Theatre', 'Observatory', 'Market Hall'))}"
        case _:
            return f"{place} {rng.choice(('study', 'trial', 'survey', 'experiment'))}"


def _sentence(rng: random.Random, kind: str, attribute: str, subject: str) -> str:
    values = _values(rng)
    values["when2"] = values["when"][0].upper() + values["when"][1:]
    text = rng.choice(KINDS[kind][attribute][1]).format(s=subject, **values)
    lead = spin(rng, rng.choice(BEFORE)) if text.startswith(("The ", subject)) else ""
    if lead and text.startswith("The "):
        text = "the " + text[4:]
    tail = spin(rng, rng.choice(LATER))
    return lead + (text[:-1] + tail if tail.startswith(",") else text + tail)


def fact(rng: random.Random) -> Iterator[Example]:
    """A question about one attribute of a subject; sentences on its other attributes, and on the same one of other subjects."""
    kind = rng.choice(list(KINDS))
    attributes = KINDS[kind]
    subject, asked = _name(rng, kind), rng.choice(list(attributes))
    question = rng.choice(attributes[asked][0]).format(s=subject, land=rng.choice(COUNTRIES))
    others = rng.sample([a for a in attributes if a != asked], min(4, len(attributes) - 1))
    others = [a for a in others if (asked, a) not in SAME and (a, asked) not in SAME]
    right = _sentence(rng, kind, asked, subject)
    near = [_sentence(rng, kind, a, subject) for a in others]
    far = [_sentence(rng, kind, asked, _name(rng, kind)) for _ in range(2)]
    if rng.random() < 0.35:  # passages of several sentences

        def around(text: str, fillers: list[str]) -> str:
            parts = [text, *rng.sample(fillers, min(len(fillers), rng.randint(1, 2)))]
            rng.shuffle(parts)
            return " ".join(parts)

        half = len(near) // 2
        right, near = around(right, near[:half]), [around(t, near[half:][1:]) for t in near[half:][:1]]
    mode = rng.random()
    yield from cases(rng, "made:fact_relevance", question, right, near if mode < 0.75 else [], far)


SAME = {
    ("birth", "teacher"),
    ("author", "lead"),
    ("founder", "boss"),
    ("winner", "leader"),
    ("winner", "after"),
    ("birth", "children"),
    ("birthplace", "birth"),
    ("author", "date"),
    ("founder", "date"),
    ("opened", "cost"),
    ("where", "opened"),
    ("banned", "critics"),
    ("plot", "place"),
    ("owner", "revenue"),
    ("people", "founded"),
    ("range", "size"),
    ("threat", "range"),
    ("author", "money"),
    ("sold", "date"),
    ("length", "after"),
    ("use", "where"),
}
"""Attributes of which a sentence about one may tell the other, too."""
