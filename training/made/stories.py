# ruff: noqa: E501  (a table of texts, one a line)
"""First-person stories that show an emotion by what happened."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .ask import Label, choice, noul, wrap
from .spin import spin

STORIES: dict[str, tuple[str, ...]] = {
    "gladness": ("{my|our} {daughter|son} {took the first steps|was born healthy} {that morning|after a long night}", "I {passed the exam|got the place} {I had worked for|that {nn} others wanted}", "my {best friend|brother} stood {at the door|on the platform} after {n} years abroad", "the {doctor|letter} said {I was well again|the illness was gone}", "we {danced|sang} until {time} at {name}'s wedding", "{name} said yes when I asked {her|him} to marry me", "our team {scored in the last minute|won the cup} and {strangers hugged me|the whole street sang}", "I {saw the sea|held my niece} for the first time", "the {job|flat} I wanted was {offered to me|ours} at last", "my parents came {to my concert|all the way from {city}} as a surprise", "I found {the dog we had lost|my late father's letters} after {n} weeks"),
    "fright": ("{a man|somebody} {followed me|walked right behind me} {through the dark park|all the way home}", "the {plane|lift} {dropped suddenly|shook} and the lights went out", "{in the night|alone in the house} I heard {steps on the stairs|the window break}", "a {huge dog|bull} {ran|came} straight at me", "the {brakes|steering} {failed|gave way} {on the hill|on the motorway}", "I {waited for the result of the scan|had to go under the knife} the next morning", "{a car came at us on our side of the road|I slid on the ice towards a truck}", "my {son|little sister} {did not come home|was not at the gate} and it got dark", "the water {pulled me away from the beach|rose up to the door}", "{two men with a knife|a stranger with a gun} stood {in front of me|in the shop}", "I hung on the {rope|cliff} and looked down"),
    "indignation": ("{my|our} {neighbour|landlord} {cut down our tree|threw out my bike} {without asking|and lied about it}", "a {colleague|classmate} {presented my work as his own|took the credit for my idea}", "{somebody|a driver} {scratched my car|cut me off} and {drove away|showed me a finger}", "my {brother|roommate} {read my diary aloud|broke my guitar and shrugged}", "the clerk {let me wait {n} hours|sent me away {n} times} and then {closed the window|laughed}", "{my ex|a friend} told everyone {lies about me|what I had said in confidence}", "they {fired|failed} me {for a mistake of the boss|though I had done all that was asked}", "he {hit|kicked} {a small child|an old dog} in front of me", "{name} came {n} hours late {again|for the third time} and said it was my problem", "I was {accused of stealing|blamed for the damage} that {name} had done"),
    "grief": ("my {grandmother|father|dog} died {in {month}|that winter}", "{name}, {my best friend|whom I loved}, {moved away for good|left me for someone else}", "we {sold|cleared out} the house {I grew up in|after mother's funeral}", "I was alone {on my birthday|at Christmas}, {nobody called|the phone stayed silent}", "I {did not get the place|lost the job} {I had hoped for|after {nn} years}", "my parents {told us they would separate|no longer knew my name}", "we lost the baby {in the fifth month|before the birth}", "I stood at the {station|grave} and {waved for the last time|laid down flowers}", "my {closest friend|sister} is {very ill|dying} and nothing can be done", "the old cat {did not wake up|had to be put to sleep}"),
    "repulsion": ("I found {a worm in my salad|hair baked into the bread|mould under the jam}", "{a man|someone} {vomited on the seat|spat on the floor} next to me {on the bus|in the train}", "the {toilet|sink} {at the station|of that bar} was {smeared all over|full of slime}", "rats {ran out of|were eating in} the {bin|kitchen of the restaurant}", "he {picked his nose and ate it|cut his toenails at the table}", "we opened the fridge {after {n} weeks without power|of the old tenant} and {maggots fell out|the meat was green}", "I stepped {barefoot|with bare feet} into {dog dirt|a rotten fish}", "the milk I had {half drunk|swallowed} was {sour and lumpy|weeks old}", "they showed {pus being squeezed from a wound|a pit full of dead pigs} on television", "an old man {rubbed against girls|stared and licked his lips} in the crowd"),
    "humiliation": ("my {trousers|skirt} {split|fell down} {in front of the whole class|on stage}", "I {forgot every line|could not answer the simplest question} {before the audience|in front of everyone}", "{the teacher read my bad marks aloud|my card was declined at the till} and {all turned to look|people giggled}", "{my mother came in|the whole office saw} while I {was naked|was imitating the boss}", "I {got drunk|burst into tears} at {the company party|a wedding} and everyone saw it", "they {caught me copying|found out I had made up my degree} and {it was read out|everyone knew}", "I {called the new boss by the wrong name|waved at a stranger}, and the {room|table} went silent", "I wet {my bed at camp|myself on the school trip} and the others noticed", "I bragged about {my driving|my French} and then {could not do it at all|failed before them all}"),
    "bad conscience": ("I {told my mother I hated her|did not visit grandfather} and {the next day he had a stroke|she cried all night}", "I {took money from my sister's box|broke the vase} and let {my brother|another child} be punished", "I {cheated on|lied to} {my partner|{name}}, who {trusted me|had done nothing wrong}", "I {forgot to feed|left the gate open for} {the rabbit|the dog}, and it {died|was run over}", "I {drove too fast|looked at my phone} and {a cyclist was hurt|hit a cat}", "I {promised to help {name} move|said I would call} and {stayed in bed|never did}", "because of my mistake {a colleague lost his job|the others had to work all weekend}", "I {spent the money for the rent|gambled away our savings} and my {wife|family} does not know yet", "I {copied a friend's work|told on {name}} and {she got the blame|he was expelled}", "I {shouted at|slapped} my {little son|child} for something {he had not done|that was my fault}"),
}  # fmt: skip
NAMES: dict[str, Label] = {
    "gladness": (("gladness", "Pleased, delighted"), ("delight", "something good came about"), ("pleased", "a good moment")), "fright": (("fright", "In danger or expecting harm"), ("afraid", "something threatens"), ("dread", "scared of what may come")), "indignation": (("indignation", "Treated unfairly, wronged"), ("furious", "mad at somebody"), ("outrage", "someone did wrong on purpose")),
    "grief": (("grief", "Loss, parting, loneliness"), ("heartbroken", "somebody or something is gone"), ("mourning", "mourns what is lost")), "repulsion": (("repulsion", "Something revolting"), ("repelled", "cannot bear to look, smell or touch"), ("nausea", "filth or foul behaviour")),
    "humiliation": (("humiliation", "Looks bad in the eyes of others"), ("mortified", "embarrassed before people"), ("loss of face", "exposed or ridiculous")), "bad conscience": (("bad_conscience", "Did wrong to somebody"), ("contrite", "is sorry for what was done"), ("self-reproach", "regrets having harmed someone")),
}  # fmt: skip
ASKS = (
    "Which emotion does the writer feel?",
    "What did the person feel?",
    "emotion",
    "Which feeling fits the situation?",
    "What emotion is described?",
    "Classify the emotion.",
    "How did the narrator feel?",
)
FORMS = (
    "When {x}.",
    "{x}.",
    "{x}.",
    "It was the day {x}.",
    "Once, {x}.",
    "A few {weeks|years} ago {x}.",
    "I still remember how {x}.",
    "Last {month} {x}.",
    "During {the holidays|my time at school|my first job}, {x}.",
    "{x}. I {still think of it|often think back to it|can see it before me}.",
)
DETAILS = (
    "I was {nn} {years old |}then.",
    "We lived in {city} at that time.",
    "It happened in {city}.",
    "It was {day}, about {time}.",
    "{name} was with me.",
    "This was {n} years ago.",
    "It was in {month} {year}.",
    "I had just come back from {city}.",
    "My cousin {name} can tell the same.",
)
MARKS = {
    "gladness": ("happy", "joyful"),
    "fright": ("afraid", "scared"),
    "indignation": ("angry", "furious"),
    "grief": ("sad", "grieving"),
    "repulsion": ("disgusted", "repelled"),
    "humiliation": ("ashamed", "embarrassed"),
    "bad conscience": ("guilty", "sorry for what was done"),
}
NEAR = (
    {"humiliation", "bad conscience"},
    {"indignation", "repulsion"},
    {"grief", "bad conscience"},
    {"grief", "indignation"},
    {"grief", "fright"},
)


def story(rng: random.Random) -> Iterator[Example]:
    """A short story and what its narrator felt."""
    felt = rng.choice(list(STORIES))
    text = spin(rng, rng.choice(FORMS).replace("{x}", rng.choice(STORIES[felt])))
    if rng.random() < 0.5:
        text = f"{spin(rng, rng.choice(DETAILS))} {text}" if rng.random() < 0.6 else f"{text} {spin(rng, rng.choice(DETAILS))}"
    text = text[0].upper() + text[1:] if rng.random() < 0.85 else text.lower()
    state = wrap(rng, text, ("text", "story", "situation", "post"))
    if rng.random() < 0.75:
        yield choice(rng, "made:story_emotion", state, ASKS, NAMES, felt)
    asked = felt if rng.random() < 0.5 else rng.choice([e for e in STORIES if {felt, e} not in NEAR])
    word = rng.choice(MARKS[asked])
    yield noul(
        rng,
        "made:story_is",
        state,
        asked == felt,
        (
            f"Is the writer {word}?",
            f"Was it {asked} that the person felt?",
            f"Is {asked} what the writer went through?",
            f"{asked}",
        ),
        (f"Did the person feel anything but {asked}?",),
    )
    if felt == "gladness" or rng.random() < 0.2:
        yield noul(
            rng,
            "made:story_pleasant",
            state,
            felt == "gladness",
            ("Is this a pleasant memory?", "Is the emotion positive?"),
            ("Is the feeling negative?", "Is this an unpleasant experience?"),
        )
