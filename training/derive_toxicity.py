# ruff: noqa: E501  (a table of texts, one a line)
"""Cases that tell hate against a group from insults, vulgar language and harmless posts, derived from training records.

The records say only whether a post is offensive, or only whether it is hateful; word lists decide the rest. A post for which they cannot
is asked about only where its answer is sure. Task names are ``derived:speech_...``.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle

from oneread.canvas.text import render
from oneread.questions import Choice, Noul, Score

from .augment import MEANINGLESS
from .corpus import Example
from .made.ask import Label, choice, noul, wrap

KINDS = {
    "hate": "a group is attacked for what it is", "insult": "a person is insulted or threatened", "crude": "vulgar words at nobody in particular",
    "rude": "insult or crude", "fine": "none of these", "not_hate": "anything but hate", "bad": "anything but fine",
}  # fmt: skip
"""What is known of a post, the last ones in part only."""

SLUR = re.compile(
    r"\b(fag|niggers?\b|trann|shemale|dyk|coons?\b|spic\b|kike|wetback|camel f|jihadi|muzz|mong\b|mongs\b|cripple|retard|rapefug|towel ?head|raghead|chink|gook|paki|gyps|midget|homo\b|homos\b|lesbo|negro|redneck|hillbill|white trash|beaner)",
    re.I,
)
GROUP = re.compile(
    r"\b(wom[ae]n|females?\b|girls\b|ladies|feminis|men\b|gender|gays?\b|lesbian|queer|trans|lgbt|homosex|bisex|sexual or|race\b|racial|ethnic|blacks?\b|whites?\b|brown people|coloured|colored|afric|asian|arabs?\b|latin[oax]|hispanic|mexic|chinese|japan|korea|india|pakis|bangla|russia|polish|poles\b|irish|german|french|turk|syria|iraq|iran|somali|nigeria|haiti|cuba|jew|israel|palestin|zionis|muslim|moslem|islam|sharia|christian|catholic|evangelic|mormon|hindu|sikh|buddh|atheis|religio|immigra|migra|refugee|asylum|alien|illegals?\b|foreign|border|deport|nationalit|natives?\b|indigen|ethnic|slave|disab|autis|mental|deaf\b|blind\b|wheelchair|elderly|old people|boomer|millennial|daca\b|buildthe|buildthat|thewall)\w*",
    re.I,
)
SWEAR = re.compile(
    r"\b(\w*fuck\w*|f[*u@]+c?k\w*|fck\w*|fkn|fcuk\w*|\w*shit(?!ak)\w*|sh([*!]|&amp;)t\w*|ass(es)?\b|arse\w*|\w+ass\b(?<!class)(?<!pass)(?<!mass)(?<!grass)(?<!glass)(?<!brass)(?<!bass)(?<!harass)(?<!embarrass)(?<!compass)(?<!bypass)|\w*asshole\w*|a-holes?|bitch\w*|b[*i]+tch\w*|bastards?|crap\w*|dick|dicks|dickhead\w*|cocks?|cocksuck\w*|puss(y|ies)|[ck]unt\w*|whor\w*|sluts?\w*|skank\w*|hoes?|thots?|piss\w*|pricks?|wank\w*|bollocks|douche\w*|motherf\w*|tits|titties|niggas?|niggaz|twats?|c[*@#]+n?t|scumbags?|boobs|horny|bugger\w*)\b",
    re.I,
)
INSULT = re.compile(
    r"\b(idiot\w*|moron\w*|imbecile\w*|stupid\w*|dumb\w*|losers?|scum\w*|pathetic|clowns?|liars?|cowards?|disgusting|ugly|trash|garbage|vile|creeps?|freaks?|nutjobs?|fools?|ignorant|lunatics?|hypocrite\w*|pigs?|brainless|worthless|low ?life|thugs?|jerks?|traitors?|snowflakes?|libtards?|puke|crook\w*|POS|psycho\w*|braindead|brain dead|wimps?|weasels?|rats?|slime\w*|turds?)\b",
    re.I,
)
MILD = re.compile(
    r"\b(wtf|stfu|gtfo|lmfao|af|tf|hell|damn\w*|dammit|suck\w*|lying|lies|hate\w*|racis\w*|kill\w*|die|rap(e|ed|ist)s?|fascis\w*|terroris\w*|sick|crazy|insane|shame\w*|evil|screw\w*|butt\w*|sex\w*|nude\w*|porn\w*|daddy|kinky|disgrac\w*|corrupt\w*|bully\w*|bs|fraud\w*|holes?)\b",
    re.I,
)
"""Keeps a post out of the harmless ones, but makes none offensive."""
_NAME = r"(bitch|[ck]unt|whore|slut|hoe|skank|bastard|dick|dickhead|\w*ass?hole|dumbass|jackass|motherfucker|prick|wanker|twat|douche\w*|idiot|moron|imbecile|liar|loser|scum|scumbag|clown|coward|creep|freak|fool|hypocrite|pig|thug|traitor|pathetic|stupid|dumb|ugly|brainless|worthless|disgusting|ignorant|vile|piece of \w+|joke|disgrace|muppet|psycho)"
AIMED = re.compile(
    rf"\b(you|u|you're|youre|ur|you are|he is|he's|she is|she's|is such an?|what an?) (\w+ ){{0,2}}{_NAME}\b|\b(fucking|fuckin|stupid|dumb|ugly|silly|filthy|dirty|lying|little|sick|absolute|total|this|that) {_NAME}\b|\bfuck (off|you|u|yourself)\b|\bstfu\b|shut (the fuck |the hell |your \w+ )?up|suck my|kiss my",
    re.I,
)
"""Somebody is called names."""
FRIENDLY = re.compile(r"love|birthday|thank|happy|baddest|skank to|bad ass|\bme\b", re.I)
YOU = re.compile(r"\b(you|u|ur|yo|your|youre|you're|y'?all)\b", re.I)
PARTY = re.compile(
    r"liberal|\blibs?\b|republi|democrat|\bdems?\b|antifa|maga\b|conservativ|\bgop\b|leftist|trump|clinton|obama|traitor|lifers",
    re.I,
)
COMMENT = re.compile(
    r"\b(call(s|ed|ing)?\b|says?\b|said\b|saying|sham(e|ed|ing)\b|sexis|misogyn|feminis|pronounce|the word|rape)", re.I
)
"""Speaks of foul language or abuse rather than in it."""
HOSTILE = re.compile(
    r"#?(build|deport|send ?(them|it)|stop ?the ?inva|close ?the ?border|no ?amnesty|no ?daca|illegal|invad|invasion|womensuck|genocide|maga\b|endchain)|welfare",
    re.I,
)
"""Marks of a campaign: a post that holds one is not certain to be harmless, though judged as not hateful."""
MIGRANTS = re.compile(
    r"immigrant|migrants?\b|refugee|illegals|illegal alien|\baliens|asylum|muslims?\b|foreigner|africans|somali|arabs", re.I
)
AGAINST = re.compile(
    r"deport (all|them|every|the|il)|#\w*deport\w*|send (them|these|all|those)|#send\w*|#\w*invasion|go (back )?home\b|invad|rapists?\b|raping|rapefug|criminals|crimes?\b|burden|free ride|leech|savage|animals|parasit|vermin|filth(?!y rich)|dirty|scum|trash\b|breed|thugs?\b|ungrateful|greedy|opportunis|shithole|kick (them|out)|get out\b|out of (our|my)|flood|swarm|infest|terroris|destroy|spoil|ruin|replac|baboon|diseas|too many|no more|stay out|ban ",
    re.I,
)
STRONG = re.compile(
    r"savage|animals|parasit|vermin|filth(?!y rich)|scum|rapefug|baboon|leech|infest|ungrateful|(must|should|need to|have to|please|^|[.!?#,]) ?go (back )?home\b|kick them|send (them|these|all) (all )?(back|home)|deport (all|them|every)|deport\w*all",
    re.I,
)
REPORT = re.compile(
    r"\b(via|says?|said|told|reports?|reported|police|minister|official|chief|poll|according|judge|mayor|court|president|deal|un|eu|bbc|cnn|trump's|watch|video|alleged|arrested|accused|charged|news)\b|\"|“|'[A-Z]",
    re.I,
)
WOMEN = re.compile(
    r"\b(women|girls|females|ladies) (all )?(are|r|be|ruin|lie|can'?t|cannot|should|belong|suck|never|always|have no|get|want)\b|\b(all|any|every|most|these|you) (wom[ae]n|girls|females)\b|women ?suck|women ?are|woman'?s place",
    re.I,
)
AGAINST_WOMEN = re.compile(
    r"stupid|dumb|kitchen|silent|shut|stfu|inferior|property|evil|liars?\b|\blie\b|weak|emotional|irrational|only good|scum|trash|garbage|useless|can'?t drive|sandwich|suck\b|slap|ruin|selfish|crazy|whores?\b|bitch|hoes?\b|retard|cook|serve|obey|annoying",
    re.I,
)
# hatecheck: kinds of people that are none of those groups, abuse of them, and words for other things that sound like a slur
TRADES = re.compile(
    r"\b(artists|bakers|butchers|accountants|centrists|communists|scientists|capitalists|landlords|doctors|firefighters|fans|workers?|waiters|vegetarians|cyclist|bigots|police|cops|athletes|consultants|politicians|opponent|managers|protesters|pilot|sexists|rapists|thieves|nazis|players|organisers|lawyers|liberals|dealers|miners|moderates|executives|lifers|chefs|homophobes|lobbyists|deniers|academics|banker|manufacturers|gardeners|economists|ceos|motorist)\b",
    re.I,
)
ABUSE = re.compile(
    r"\b(scum|vermin|cancer|virus|plague|pest|rat|dirt|filth\w*|trash|garbage|disgust\w*|repuls\w*|repugnant|despicable|pathetic|worthless|worth (absolutely )?nothing|brainless|dumb\w*|stupid\w*|ignorant|dishonest|subhuman|lesser|parasites|cockroaches|infest\w*|waste of space|absolute worst|uncivilised|violent and cruel|hate|hatred|despise|detest|loathe|abhor|contempt|scorn|disdain|stab|shoot|shot|kill\w*|murder\w*|execut\w*|slaughter|hang|drown|strangle|snap|cut|torture|rap(e|ing)|hurt|suffer|die|dead|death|burned|end his life|better off without|make me sick|attacking you|threat)\b",
    re.I,
)
SOUNDS_LIKE = re.compile(r"smok|store|garden|shed|shovel|hoeing|walls|flood|beach|water|marsh|meatball|the butcher|cooked|pan-fried|sticks|vet\b|barking|labrador|other dogs|packet", re.I)  # fmt: skip
COUNTER = re.compile(
    r"not okay|think it's okay|no respect for people|people who send|he said this|have to stop|should never|shouldn't|not tolerate",
    re.I,
)

FIELDS = ("post", "text", "comment", "tweet", "message", "status", "content", "reply")
LABELS: dict[str, Label] = {
    "hate": (("hateful", "Attacks or demeans people for their origin, faith, skin colour, sex, orientation or disability"), ("hate_speech", "Turns against a whole group of people for what they are"), ("hate", "Contempt or threats aimed at a group such as women, migrants or a religion"),
             ("group_hatred", "A group is insulted, dehumanised or wished away"), ("Hate speech", "Hostility to people because they belong to a group"), ("targets_group", "Goes after people for who they are by birth or belief")),
    "rude": (("offensive", "Insults, swearing or crude talk, without hatred of any group"), ("offensive_language", "Foul or insulting words, yet nobody is attacked for origin, faith or sex"), ("rude", "Vulgar or abusive to somebody, no group is demeaned"), ("vulgar", "Swear words, slang or personal insults only"),
             ("Offensive, no hate", "Coarse language that stops short of hate speech"), ("profane_or_insulting", "Curses or calls a person names")),
    "fine": (("neither", "Neither hate nor offensive language"), ("none", "No insult, no swearing, no attack on anybody"), ("clean", "Ordinary language, also when it speaks about groups or condemns hate"), ("ok", "Nothing to object to"), ("neutral", "Harmless: news, opinion, small talk"),
             ("acceptable", "Decent wording, whatever the topic")),
}  # fmt: skip
HATE_LABELS: dict[str, Label] = {
    "hate": LABELS["hate"],
    "other": (("not_hate", "No group is attacked; may be rude, vulgar or perfectly polite"), ("no_hate_speech", "Anything else, swearing and personal insults included"), ("other", "Everything that demeans no group, however coarse"), ("not hateful", "Foul words alone do not count"),
              ("no", "no attack on a group"), ("noHate", "Insults to one person, slang, opinions, news")),
}  # fmt: skip
BAD_LABELS: dict[str, Label] = {
    "bad": (("offensive", "Swearing, insults or hatred"), ("toxic", "Rude, vulgar or hateful"), ("abusive", "Foul or hostile language"), ("flag", "A moderator should look at it"), ("inappropriate", "Hurtful or coarse wording")),
    "ok": (("fine", "Nothing offensive in it"), ("not_toxic", "Civil wording, even if critical"), ("clean", "No insults, no foul language"), ("pass", "May be shown to everybody"), ("appropriate", "Acceptable wording")),
}  # fmt: skip
AIM_LABELS: dict[str, Label] = {
    "group": (("group", "People of an origin, faith, sex, colour or the like are attacked"), ("a_group_of_people", "Demeans a whole group"), ("many people for what they are", "hostile to a group by birth or belief")),
    "person": (("individual", "One person is insulted or threatened"), ("a_person", "Abuse of somebody in particular"), ("someone in person", "the insult is meant for a single person")),
    "nobody": (("nobody", "There is no attack in it"), ("no_target", "Nobody is insulted"), ("no one at all", "neither a person nor a group is attacked")),
}  # fmt: skip
KIND_ASKS = (
    "Is this hate speech, just offensive, or neither of the two?", "Sort the post: hatred of a group, bad language, or unproblematic?", "What best describes the language of this tweet?", "Which category does the comment fall into?",
    "Swearing is not hate. Which label fits?", "Hate is aimed at a group for what it is; crude slang and insults are only offensive. Label the text.", "Choose the label a careful annotator would give.", "How should this be tagged?", "speech_type",
    "Tell hate speech from merely coarse language.", "What sort of language does the author use?", "Content label for the tweet", "Type of language?", "Annotate the message for hate and offence.", "Decide which of these it is.", "Is somebody attacked as a member of a group, is it only vulgar, or is it clean?",
)  # fmt: skip
HATE_YES = (
    "Is a group of people attacked because of origin, faith, colour, sex or the like?", "Does this count as hate speech, and not just as bad language?", "Is there hatred of a group in this post?", "Does the author show contempt for a whole group of people?", "hate_speech", "is_hateful",
    "Is it more than rude, that is, hateful to a group?", "Does the comment demean people for who they are?", "Are women, migrants, a religion or another such group vilified?", "The text spreads hatred.", "Would you call this sentence hateful?", "Does it dehumanise or threaten a group?", "Hate speech?",
    "Is the writer hostile to people for belonging to a group?", "Does this break a rule against hate speech (swearing is allowed)?", "Does the tweet attack people for their identity?",
)  # fmt: skip
HATE_NO = (
    "Is it free of hatred of any group, however rude?",
    "No group is demeaned here.",
    "Is this allowed where only hate speech is banned?",
    "Is the post something other than hate speech?",
)
HATE_CRITERIA = (
    ("a group is attacked for what it is", "rude, vulgar or harmless, but no group is attacked"), ("hate speech", "not hate speech, although it may offend"), ("it demeans people for origin, faith, sex, colour, orientation or disability", "it does not"),
    ("hateful", "not hateful"), ("contempt for a group", "anything else, swear words included"),
)  # fmt: skip
BAD_YES = (
    "Is there any insult, foul word or hatred in it?", "Is the wording offensive in any way?", "Might decent readers take offence?", "Does it hold swearing, insults or worse?", "is_offensive", "Is this rude or worse?", "Would a polite forum reject this?", "Is the language coarse, abusive or hateful?", "The tweet is offensive.",
    "Does somebody use bad language here?", "Abusive?", "Is this unfit for a family page?",
)  # fmt: skip
BAD_NO = (
    "Is the wording decent throughout?",
    "Is it free of insults, swearing and hate?",
    "Could this be read out in class?",
    "The post is polite enough to be published.",
)
BAD_CRITERIA = (
    ("offensive or worse", "not offensive"),
    ("swearing, insults or hatred", "none of that"),
    ("bad language of any kind", "decent language"),
)
RUDE_YES = (
    "Is this offensive without being hate speech?", "Coarse or insulting, but no group is attacked: is that so?", "Is it bad language only, with no hatred of a group?", "Is it rude, yet not hateful to any group?", "merely_offensive", "Does it offend without attacking people for who they are?", "Is this vulgar or abusive but short of hate speech?",
)  # fmt: skip
RUDE_CRITERIA = (
    ("rude, vulgar or insulting, no group attacked", "either clean or hateful to a group"), ("only offensive", "hate speech, or not offensive at all"), ("foul language without group hatred", "anything else"),
)  # fmt: skip
AIM_ASKS = (
    "Who is attacked, if anybody?",
    "At whom is the abuse aimed?",
    "Target of the attack?",
    "target",
    "Does it go against a person, a group or nobody?",
    "Whom does the author insult?",
    "Is the insult aimed at a person or at a group?",
)
LEVEL_ASKS = (
    "How bad is the language?", "How severe is it?", "Rate the post for a moderator.", "toxicity_level", "How far does it go?", "severity of the language", "Grade how harmful the comment is.", "Where on the scale from harmless to hateful is this tweet?", "Offensiveness",
)  # fmt: skip
SCALES = (
    ("fine", "rude or profane", "hateful to a group"), ("nothing offensive", "offensive language", "hate speech"), ("clean", "vulgar or insulting, no group attacked", "attacks a group for what it is"), ("none", "bad language", "hatred"),
    ("harmless post", "swearing or insults", "contempt or threats against a group"), ("leave it", "hide behind a warning", "remove for hate speech"), ("0: neither", "1: offensive", "2: hateful"),
)  # fmt: skip
LONG_SCALES = (
    ("clean", "vulgar words, nobody attacked", "insults or threatens somebody", "hatred of a group"), ("fine", "coarse", "abusive to a person", "hate speech"), ("no problem", "swearing", "personal attack", "attack on people for what they are"),
    ("polite or neutral", "profane", "insulting", "hateful to a group"),
)  # fmt: skip
TAILS = (
    "!!",
    " lol",
    " smh",
    " \U0001f602",
    " \U0001f644",
    " #facts",
    " #monday",
    " https://t.co/x",
    "...",
    " &amp; that is it",
    " tbh",
    " fr",
)


def affirmed(e: Example) -> bool | None:
    """Whether the record calls its post offensive, or hateful; None when it does not say."""
    asked = render(e.question.instructions).lower()
    if isinstance(e.question, Noul):
        return (e.answer == 0) != bool(re.search(r"free of|acceptable|not (offensive|hateful)", asked))
    if not isinstance(e.question, Choice):
        return None
    name, text = list(e.question.options.items())[e.answer]
    label = re.sub(r"[_-]", " ", str(text or "") if MEANINGLESS.match(name) else name).lower()
    if re.search(r"not (ok|acceptable)|^flag", label):
        return True
    return not re.search(r"\bnot?\b|\bok\b|acceptable", label) if re.search(r"offen|ok\b|accept", label) else None


def said(e: Example) -> str:
    """The post itself."""
    state = e.state
    while isinstance(state, Mapping) and len(state) == 1:
        (state,) = state.values()
    text = render(state).replace('""', '"').strip().strip('"').replace("\n", " ")
    text = re.sub(r"(@user ){3,}", "@user @user ", text)
    return "" if re.search("[âðÃ]|‘˜", text) else text  # read in a wrong encoding


def abusive(text: str) -> str:
    """The kind of a foul post in which no group is attacked."""
    if AIMED.search(text) and not FRIENDLY.search(text):
        return "rude" if PARTY.search(text) and not YOU.search(text) else "insult"
    return "rude" if INSULT.search(text) or YOU.search(text) or PARTY.search(text) or TRADES.search(text) else "crude"


def from_offensive(text: str, offensive: bool) -> str:
    foul = SWEAR.search(text) or INSULT.search(text)
    if not offensive:
        return "" if foul or MILD.search(text) or SLUR.search(text) else "fine"
    if not foul:
        return ""  # many are political quarrels, about which annotators differ
    return "bad" if GROUP.search(text) or SLUR.search(text) else abusive(text)


def from_hateful(text: str, hateful: bool) -> str:
    if hateful:
        if MIGRANTS.search(text) and not REPORT.search(text) and (STRONG.search(text) or len(AGAINST.findall(text)) > 1):
            return "hate"
        if WOMEN.search(text) and AGAINST_WOMEN.search(re.sub(r"#\w+", "", text)) and not REPORT.search(text):
            return "hate"
        return "bad" if SWEAR.search(text) else ""  # women are also insulted one by one, which is not what we call hate
    if HOSTILE.search(text) or SLUR.search(text):
        return ""
    if SWEAR.search(text):
        return "not_hate" if GROUP.search(text) or COMMENT.search(text) else abusive(text)
    return "" if INSULT.search(text) or MILD.search(text) else "fine"


def from_tested(text: str, hateful: bool) -> str:
    if hateful:  # slang for women is too common among rude posts to stand for hate by itself
        return "bad" if re.search("bitch|whore|slut", text, re.I) and not GROUP.search(text) else "hate"
    if COUNTER.search(text) or SOUNDS_LIKE.search(text):
        return "fine"  # counter speech may quote any word
    if GROUP.search(text) and not SLUR.search(text):
        return "not_hate" if "bitch" in text else "fine"
    if SLUR.search(text):
        return "not_hate"  # of oneself
    if SWEAR.search(text):
        return abusive(text)
    if ABUSE.search(text):
        at = re.search(r"\b(you|your|him|his|he|she|her)\b", text, re.I)
        return "rude" if TRADES.search(text) else "insult" if at else "fine"
    return ""


SOURCES = {"offensive_tweets": from_offensive, "hate_tweets": from_hateful, "hatecheck": from_tested}
MOST = 1000
"""Posts of one kind from one source, so that none decides what a kind is."""


def sorted_posts(rng: random.Random, corpus: Mapping[str, Sequence[Example]]) -> dict[str, list[str]]:
    """Posts by kind; each text once."""
    out: dict[str, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for task, kind_of in SOURCES.items():
        here: dict[str, list[str]] = defaultdict(list)
        for e in corpus.get(task, ()):
            text, truth = said(e), affirmed(e)
            if truth is not None and len(text) > 8 and text.lower() not in seen:
                seen.add(text.lower())
                here[kind_of(text, truth)].append(text)
        for kind in KINDS:
            out[kind] += rng.sample(here[kind], min(len(here[kind]), MOST))
    return {kind: rng.sample(texts, len(texts)) for kind, texts in out.items() if texts}


def dressed(rng: random.Random, text: str, kind: str, posts: Mapping[str, Sequence[str]]) -> str:
    """The post as it may stand on a timeline, now and then with another sentence that does not change its kind."""
    roll = rng.random()
    beside = "fine" if roll < 0.15 else "rude" if roll < 0.45 and kind == "hate" else ""
    short = [t for t in rng.sample(posts.get(beside, ()), min(12, len(posts.get(beside, ())))) if len(t) < 110]
    if short and len(text) < 140:
        both = [text, short[0]]
        rng.shuffle(both)
        text = " ".join(t if re.search(r"[.!?…]$|#\w+$", t) else t + "." for t in both)
    if "@" not in text and rng.random() < 0.4:
        text = rng.choice(("@user ", "@user @user ", "RT @user: ", ".@user ")) + text
    if rng.random() < 0.15:
        text = text.rstrip(".") + rng.choice(TAILS)
    return text.lower() if rng.random() < 0.12 else text


def toxicity(rng: random.Random, corpus: Mapping[str, Sequence[Example]], share: float) -> Iterator[Example]:
    """About 38,000 cases times `share`: every answer to a form of question is equally frequent."""
    posts = sorted_posts(rng, corpus)
    turns = {kind: cycle(texts) for kind, texts in posts.items()}

    def drawn(n: int, *answers: tuple[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
        """`n` posts for each answer, with it; kinds in proportion to their posts."""
        for answer, kinds in answers:
            there = [k for k in kinds if k in posts]
            for kind in rng.choices(there, [len(posts[k]) for k in there], k=int(n * share)) if there else ():
                yield answer, dressed(rng, next(turns[kind]), kind, posts)

    foul = ("insult", "crude", "rude")
    three = (("hate", ("hate",)), ("rude", foul), ("fine", ("fine",)))
    hateful = (("hate", ("hate",)), ("other", (*foul, "not_hate")), ("hate", ("hate",)), ("other", ("fine",)))
    offends = (("bad", (*foul, "hate", "bad")), ("ok", ("fine",)))
    for gold, text in drawn(4200, *three):
        yield choice(rng, "derived:speech_kind", wrap(rng, text, FIELDS), KIND_ASKS, LABELS, gold)
    for gold, text in drawn(800, *hateful):
        yield choice(
            rng, "derived:speech_hate_choice", wrap(rng, text, FIELDS), (*KIND_ASKS[2:4], *HATE_YES[:4]), HATE_LABELS, gold
        )
    for gold, text in drawn(1600, *hateful):
        state = wrap(rng, text, FIELDS)
        yield noul(rng, "derived:speech_hate", state, gold == "hate", HATE_YES, HATE_NO, rng.choice(HATE_CRITERIA))
    for gold, text in drawn(700, *offends):
        state = wrap(rng, text, FIELDS)
        yield choice(rng, "derived:speech_bad_choice", state, (*KIND_ASKS[2:4], *BAD_YES[:4]), BAD_LABELS, gold)
    for gold, text in drawn(1400, *offends):
        yield noul(rng, "derived:speech_bad", wrap(rng, text, FIELDS), gold == "bad", BAD_YES, BAD_NO, rng.choice(BAD_CRITERIA))
    for gold, text in drawn(700, ("rude", foul), ("hate", ("hate",)), ("rude", foul), ("fine", ("fine",))):
        yield noul(
            rng, "derived:speech_rude_only", wrap(rng, text, FIELDS), gold == "rude", RUDE_YES, (), rng.choice(RUDE_CRITERIA)
        )
    for gold, text in drawn(700, ("group", ("hate",)), ("person", ("insult",)), ("nobody", ("fine",))):
        yield choice(rng, "derived:speech_aim", wrap(rng, text, FIELDS), AIM_ASKS, AIM_LABELS, gold)
    levels = [name for name, _ in three[::-1]]
    for gold, text in drawn(1500, *three):
        scale = Score(list(rng.choice(SCALES)), rng.choice(LEVEL_ASKS))
        yield Example("derived:speech_level", scale, wrap(rng, text, FIELDS), levels.index(gold))
    for level, kind in enumerate(("fine", "crude", "insult", "hate")):
        for _, text in drawn(450, (kind, (kind,))):
            scale = Score(list(rng.choice(LONG_SCALES)), rng.choice(LEVEL_ASKS))
            yield Example("derived:speech_level_of_four", scale, wrap(rng, text, FIELDS), level)
