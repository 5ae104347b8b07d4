# ruff: noqa: E501  (a table of patterns)
"""Word lists by which `derive_toxicity` sorts posts whose records say only that they are offensive, or only that they are hateful."""

from __future__ import annotations

import re

SLUR = re.compile(
    r"\b(fag|niggers?\b|trann|shemale|dyk|coons?\b|spic\b|kike|wetback|camel f|jihadi|muzz|mong\b|mongs\b|cripple|retard|rapefug|towel ?head|raghead|chink|gook|paki|gyps|midget|homo\b|homos\b|lesbo|negro|redneck|hillbill|white trash|beaner)",
    re.I,
)
GROUP = re.compile(
    r"\b(wom[ae]n|females?\b|girls\b|ladies|feminis|men\b|gender|gays?\b|lesbian|queer|trans|lgbt|homosex|bisex|sexual or|race\b|racial|ethnic|blacks?\b|whites?\b|brown people|coloured|colored|afric|asian|arabs?\b|latin[oax]|hispanic|mexic|chinese|japan|korea|india|pakis|bangla|russia|polish|poles\b|irish|german|french|turk|syria|iraq|iran|somali|nigeria|haiti|cuba|jew|israel|palestin|zionis|muslim|moslem|islam|sharia|christian|catholic|evangelic|mormon|hindu|sikh|buddh|atheis|religio|immigra|migra|refugee|asylum|alien|illegals?\b|foreign|border|deport|nationalit|natives?\b|indigen|ethnic|slave|disab|autis|mental|deaf\b|blind\b|wheelchair|elderly|old people|boomer|millennial|daca\b|buildthe|buildthat|thewall)\w*",
    re.I,
)
SWEAR = re.compile(
    r"\b(dumb-?ass\w*|\w*fuck\w*|f[*u@]+c?k\w*|fck\w*|fkn|fcuk\w*|\w*shit(?!ak)\w*|sh([*!]|&amp;)t\w*|ass(es)?\b|arse\w*|\w+ass\b(?<!class)(?<!pass)(?<!mass)(?<!grass)(?<!glass)(?<!brass)(?<!bass)(?<!harass)(?<!embarrass)(?<!compass)(?<!bypass)|\w*asshole\w*|a-holes?|bitch\w*|b[*i]+tch\w*|bastards?|crap\w*|dick|dicks|dickhead\w*|cocks?|cocksuck\w*|puss(y|ies)|[ck]unt\w*|whor\w*|sluts?\w*|skank\w*|hoes?|thots?|piss\w*|pricks?|wank\w*|bollocks|douche\w*|motherf\w*|tits|titties|niggas?|niggaz|twats?|c[*@#]+n?t|scumbags?|boobs|horny|bugger\w*)\b",
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
_NAME = r"(bitch|[ck]unt|whore|slut|hoe|skank|bastard|dickhead|\w*ass?hole|dumbass|jackass|motherfucker|prick|wanker|twat|douche\w*|idiot|moron|imbecile|liar|loser|scum|scumbag|clown|coward|creep|fool|hypocrite|pig|thug|traitor|pathetic|stupid|dumb|ugly|brainless|worthless|disgusting|ignorant|vile|piece of (shit|crap)|muppet|psycho)"
_BETWEEN = r"(a|an|the|such|so|too|just|really|truly|are|is|r|fucking|fuckin|fckn|damn|bloody|stupid|dumb|little|lil|lying|fat|ugly|bald|big|total|complete|absolute|pathetic|worthless|sick|ignorant|nasty|dirty|filthy|cheap|silly|old|one|all|pussy|ass|bitch|degenerate|hysterical|cringey|immature|spoiled|arrogant|incredibly|extremely|beyond|clearly|obviously|always|both)"
AIMED = re.compile(
    rf"\b(you|u|you're|youre|ur|ya|he|he's|hes|she|she's|shes|what an?) ({_BETWEEN} ){{0,4}}{_NAME}\b(?! (idea|thing|mistake|question|move|game|movie|song))|\b(fucking|fuckin|stupid|dumb|ugly|silly|filthy|dirty|lying|absolute|total) {_NAME}\b(?! (idea|thing|mistake|question|move|game|movie|song))|\bfuck (off|you|u|yourself)\b|\bstfu\b|shut (the fuck |the hell |your \w+ )?up\b|suck my (dick|cock)|kiss my ass",
    re.I,
)
"""Somebody is called names, or told where to go."""
FRIENDLY = re.compile(
    r"love|luv|\bbae\b|\bbabe\b|birthday|thank|happy|congrat|good (move|for you)|proud|beautiful|awesome|baddest|skank (to|beat)|bad[- ]?(ass|bitch)|\bthat bitch\b|like a boss|\b(me|myself|i'?m|i am|i was|i've been)\b|\bjk\b|😊|🤗|😎|😘|❤|🍕",
    re.I,
)
"""Praise in foul words, or talk of oneself."""
QUOTED = re.compile(
    r"\b(when|if|whenever) (you|u|your|he|she)\b|[\"“”]|(^|\s)'\w|\b(said|says|told|call(s|ed|ing)?|(got|had|want) to fuck off|like|sex|horny|dm|video|pic|gif)\b",
    re.I,
)
"""The abuse may be somebody else's, a supposition or a fantasy."""
NAMED = re.compile(
    rf"\b{_NAME}s?\b|\b(\w*suckers?|dicks?|puss(y|ies)|whores?|bitch\w*|hoes?|cunts?|skanks?|sluts?|bastards?|tits)\b|\b(he|she|him|his|her|they|them|em|their|he's|she's|those|these|this guy|kids|girls?|boys?|bro)\b|\b(fuck|fuk|screw) \w+\b",
    re.I,
)
"""Somebody is spoken of, so that swearing beside it may be meant for him."""
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
