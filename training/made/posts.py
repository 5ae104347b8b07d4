# ruff: noqa: E501  (a table of texts, one a line)
"""Posts that demean a group, posts that are rude or profane without that, and fine ones that mention groups, complain or swear."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .ask import Label, choice, noul, score, wrap
from .spin import spin

GROUPS = """immigrants|foreigners|refugees|women|old people|disabled people|gay people|trans people|Muslims|Jews|Christians|Black people
Asians|white people|people from the north|people from {city}|southerners|Roma people|the deaf|migrants|Arabs|Mexicans|poor people|lesbians
nuns|islanders|hill people|blind people|people of that faith|Africans|Poles|Indians""".replace("\n", "|").split("|")
POSTS: dict[str, tuple[str, ...]] = {
    "hate": (
        "{Honestly|Sorry but} {I cannot stand|I despise|I can't look at} {g}{, never could|. Period}.", "{Why is it always {g}|It is always {g}}{ who cheat| who steal| who cause trouble|}? {Born that way|It is in their blood}.", "{If|The day} {g} {run|get to run} this {country|office}, {I am leaving|we are finished}, {they can't think|they only know how to beg}.",
        "{All|Most} {g} are {lazy|liars|thieves|stupid|filthy|parasites}{, everybody knows it|. Fact|}.", "{g} {do not belong here|should go back where they came from|should not be allowed to vote}.", "I would never {hire|rent to|trust|let my kids play with} {g}{, they are not like us|}.", "{Send|Throw} {them|all {g}} {out|home}, {g} {ruin|are a plague on} this {country|town}.",
        "{We|This city} would be {better off|cleaner|safer} without {g}.", "{g} are {less than human|animals|vermin|inferior}{, treat them so|}.", "{Of course|Typical}: {a robbery again|the shop is a mess}, {must have been {g}|that is what {g} do}.", "{Why do|How come} {g} get {jobs|rights|help}? {They are too dumb to use it|They deserve nothing}.",
        "{Keep|Get} {g} out of our {schools|parks|street}, {I do not want to breathe the same air|they make me sick}.", "{g} {belong in the kitchen|should keep quiet and serve|are only good for cleaning}.", "{Another|One more} {family|bus full} of {g} moved in. {There goes the street|Lock your doors}{, disgusting people|, they breed like rats}.", "{Somebody should|Time to} {teach {g} a lesson|drive {g} out}{, whatever it takes|}.",
        "I am not prejudiced, but {g} {really are|simply are} {dirty|dishonest|a lower sort of people}.", "{Nice|Pretty} {words about equality|speech}, still {g} will never be {as good as us|real citizens}.",
        "{It is nothing personal|I say this calmly}, but {g} {lower the standard of|do not fit into} {every school|any team|a decent street}{ they join|}.", "{Studies show|Biology shows|History proves} that {g} {have smaller minds|are born to follow|cannot build anything}{, it is just science|, like it or not|}.", "{Who do you think|Guess who} {owns the news|picks the judges|profits from every war}? {g}, {always behind the curtain|and nobody dares to say it}.", "{g} {multiply|spread} like {rats|weeds|mould}{, and we pay for it|, soon nothing of us is left|}.",
        "{Politely put|With all respect}, {g} {should go back|ought to leave}, {they were never meant to live here|this land is ours}.", "{I feel sorry for|Pity} any {child|team} that has to {sit next to|work with} {g}.", "{Marrying|Dating} {one of {g}|into {g}} is {throwing your blood away|a shame for the family}.", "A country is {like a garden|like a body}, and {g} are {the weeds|the disease}.", "{Let us be honest|Unpopular fact}: {g} {contribute nothing|only take}, {one ticket home each|the sooner they leave the better}.",
        "{Would you|Who would} {trust|sit beside} {one of {g}|{g}} {on a plane|with your purse}? {I would not|Exactly}.", "{They want to|They will} replace us with {g}{, town by town|, and the papers cheer|}.", "{Lol|Haha} {g} {trying to|think they can} {think|lead|do maths}, {know your place|somebody fetch the leash}.", "{Ever noticed|Funny} how {g} {all smell the same|never tell the truth}{?| haha| lol}",
    ),
    "rude": (
        "{Holy shit|For fuck's sake}, {this app|that ref} is {fucking useless|a piece of crap}.", "{name} {you|u} {suck|are so full of shit}{ lmao|, admit it|}.", "{Bitch please|Boo hoo}, {cry me a river|go whine somewhere else}, {loser|crybaby}.", "{My boss|This guy} is a {total|complete} {dickhead|asshole|douche}{, I swear|}.",
        "{Shut the hell up|Get lost|Go to hell}, you {clown|idiot|moron|jerk}{!|.|}", "What a {load of crap|shitty referee|bloody joke}{, you all suck|}.", "{This game|That episode|Your playlist} is {absolute shit|crap|complete garbage}, {who the hell made it|screw the people who made it}.", "{name} is {a lying bastard|a total jerk|dumb as a brick}{ and always was|}.",
        "Nobody asked you, {dumbass|loser|idiot}.", "{Screw|Damn} {you|this whole team}, {bunch of losers|you useless clowns}.", "{You are|Your mum is} so {ugly|fat|stupid} {lol|that mirrors break}.", "{Are you brain dead|Did you fall on your head}? {Read the damn rules|Learn to drive, asshole}.", "{Kiss my ass|Piss off}, {I post what I want|I do not give a shit}.", "{That bitch|That bastard} {name} {stole my seat|ate my lunch} again.",
        "{Fuck|F***} {off|this shit}, {I am done|what a stupid thread}.", "{Your|This} {haircut|opinion|cooking} {makes me want to puke|is as dumb as you are}.", "{Only a moron|Only an idiot} would {buy this phone|vote for that mayor|support that club}.",
        "{Damn|Shit|Fuck}, {I|we} {burned the rice|missed the bus|forgot my keys} again, {I'm such a dumbass|what a shit day|my luck is ass}.", "{Stupid|Fucking|Piece of shit} {printer|laptop|zipper|car} {won't start|ate my work|broke again}{, I swear to god|, fuck this|}.", "{Bitch|Bro|Homie} I {been|was} {up since {n}|on my grind|broke as hell} and {ain't got shit to show|still look good as fuck}{ lmao| fr|}.", "{Your|That} {team|keeper|quarterback} {is trash|plays like ass|couldn't score in a damn brothel}{ lmao|, cry about it|}, we {fucked you up|whooped that ass} {n}-0.",
        "{He|She} {texted me|hit me up} at {n} am {drunk as fuck|talking shit}, {bye bitch|nah, block that fool|not today, asshole}.", "My ex is {a lying piece of shit|a cheating bastard|still a whiny little bitch}{ and I dodged a bullet|, good riddance|}.", "{These hoes|Bitches|Them fools} {be|stay} {loud in the club|in my mentions|lying for likes}{, I just laugh| lol|}.", "{Got|Need} {a fat ass burger|some damn sleep|drunk as shit} and {zero fucks|no shits} {left to give|given}.", "{Happy birthday|Miss you}, you {crazy|ugly|sexy} {bitch|bastard}{, love you to death| xoxo|, drinks on me}!",
        "{Money in the bag|Chain on my neck}, {bad bitch on my side|hoes on the line}, {fuck what they say|haters can suck it}{ (new verse)| #bars|}.", "{Who the fuck|Who the hell} {puts raisins in that|wakes up at {n}|sends voice notes}{? Psycho behaviour|, dumbass|}.", "{Date was|Last night was} {shit|awkward as fuck}, {dude only talked about his dick|she puked on my shoes|ended with no ass and a bill}.", "{That|This} {beat|song|movie} {slaps so fucking hard|is the shit|got me hype as fuck}.", "Y'all {petty|broke|thirsty} as {hell|fuck}{, stay mad| lmao|}.",
        "{name} really {pulled up|came} {with his whole ass|looking like shit|acting a damn fool} {at the gym|to my party}{ \U0001f602|}.", "{I hate my|Fuck this} {damn job|shitty shift|dumb ass schedule}, {boss can kiss my ass|somebody shoot me}.",
    ),
    "fine": (
        "{Why are {g} treated so badly here|How can we make {city} safer for {g}}? {Any ideas|It breaks my heart}.", "{My best friend dates|My sister married} {a man|someone} whose {parents|cousins} are {g}, {lovely people|the wedding was great}.", "{I hate how people talk about {g}|It makes me angry that {g} still face insults}{, it has to stop|}.", "{Train|Bus} late {again|by {nn} minutes}, {thanks for nothing|what a day}.", "{Cannot wait for|Excited about} {the match|the concert|dinner} {on {day}|tonight}!", "{Ugly|Trash} {weather|day} today, {staying in bed|the bins were not collected}.",
        "{My neighbours are|Our new doctor works with} {g} and {brought us soup|does a great job}.", "A study says that {g} {earn less|wait longer for a flat} in {city}.", "{The council|Parliament} passed a {law|budget} for {g} on {day}.", "I do not agree that {g} {are lazy|should leave}, {that is just unfair|my own family came that way}.", "{He said|Someone wrote} that {g} are {vermin|stupid}. {I reported it|That is awful, do not talk like that}.", "{Stop|Please stop} insulting {g}{, they are people like you and me|}.",
        "{Proud|Happy} to {march|cook|sing} with {g} in {city} {on {day}|this year}!", "Which {books|films} by or about {g} can you recommend?", "{Damn|Hell yes|Holy crap}, {we won|what a goal|I passed}!!!", "{That burger was damn good|This song slaps so hard|I am so freaking happy today}{ haha|!|}", "I hate {Mondays|mushrooms|this printer|waiting for the bus}{ so much|, they are the worst|}.", "The {film|service|match|update} was {terrible|a letdown|far too long}, {I want my money back|I left early}.",
        "{I disagree|You are wrong there}, {the numbers say otherwise|but I see your point}.", "{Does anybody know|Can someone tell me} {a good bakery in {city}|when the pool opens}?", "{Kill|Shoot} {the process|the light} and {restart|try again}, that {helps|did it for me}.", "{My dog is such an idiot|I am so dumb}, {he ran into the door|I locked myself out} again lol.", "{The mayor lied about the costs|The government should resign}, {and I will vote against it|in my opinion}.", "{Good luck|Congratulations} {name}{, you deserve it|, well played}!",
        "{As one of {g}|I grew up among {g} and} I {feel at home|was treated well} in {city}.", "The {museum|school} {opened|offers} {a show on|classes for} {g}.",
        "{History class|Podcast|Long read} {on|about} {how {g} came to {city}|the laws against {g} in {year}}{, worth an hour|}.", "{Is it true|Does anyone know if} {g} {could not vote|were not let in} {before {year}|back then}?", "{Border|Asylum|Visa} {rules|talks} {change|start} {on {day}|in {month}}{, details: {url}|, says the minister|}.", "{Banter with|Lunch with} {name}, {best mate ever|never laughed so much|my favourite human}.", "{Ref|Coach} {needs glasses|lost us the game}{, we go again on {day}|, gutted|}.", "{My ex|He|She} {never called back|left me on read}, {oh well|on to the next one|pizza it is}.",
        "{Finna|Gonna} {sleep all day|get me some tacos|hit the gym}{ y'all| fr fr| no cap|}.", "{I disagree with|I would limit} {the new visa rules|more immigration}, {we lack houses|let us plan it better}, {nothing against the people|they are not to blame}.", "{Is|Was} it {rude|wrong} to ask {g} {about their faith|where they grew up}? {Honest question.|Want to do it right.}", "{White|Black|Brown|Yellow} {bread|beans|paint|birds} {or|and} {tea|rice}, {what do you say|my whole weekend}?", "{g} {do not deserve|should never hear} {such words|such threats}, {whoever writes them should be ashamed|full stop}.",
    ),
}  # fmt: skip
KINDS: dict[str, Label] = {
    "group_attack": (("attack_on_a_group", "People are attacked for origin, faith, sex, age or the like"), ("bigotry", "contempt for a kind of people"), ("protected-group violation", "Runs a community down"), ("prejudice", "turns on people for what they are"), ("discrimination", "hostile to a group as such")),
    "incivility": (("bad_manners", "Vulgar words or insults, no group under attack"), ("foul_or_insulting", "coarse, or nasty to a person"), ("profanity or abuse", "curses and name-calling, nothing against a people"), ("courtesy violation", "swears or calls somebody names"), ("tone_violation", "four-letter words or personal insults")),
    "no_violation": (("nothing_broken", "Keeps the rules, also when it mentions groups or complains"), ("harmless", "gives no cause to step in"), ("within_the_rules", "ordinary talk"), ("unobjectionable", "criticism, news, chat"), ("passes", "nobody is hurt by it")),
}  # fmt: skip
RULED = {"hate": "group_attack", "rude": "incivility", "fine": "no_violation"}
"""What the rules call each kind."""
ASKS = (
    "Which house rule does the post break, if any?",
    "Apply the community guidelines.",
    "What would a report be filed under?",
    "policy_check",
    "Name the breach.",
    "Result of the moderation check",
    "What does the moderator note down?",
    "Under which point of the code of conduct does it come?",
    "What is wrong with it, if something is?",
)
HATE_ASKS = (
    "Are people run down here for belonging to a group?",
    "Is a community attacked for what it is?",
    "Does the author look down on some kind of people?",
    "group_attack",
    "Is there ill will towards a people, a faith, a sex or the like?",
    "The author is prejudiced against a group.",
    "Would this break a rule that protects minorities and other groups?",
    "Is it bigoted?",
    "Does it say or imply that a group is worth less, a danger or a burden?",
    "Should a group feel unwelcome because of this?",
    "Does the remark discriminate?",
)
NO_HATE = (
    "Is every group left in peace, however rude it is?",
    "Is it free of ill will towards any people or faith?",
    "May it stay where only attacks on groups are banned?",
    "Is there no prejudice in it?",
)
BAD_ASKS = (
    "Does it break the rule to be civil?",
    "Are there curses, insults or attacks in it?",
    "Could somebody be hurt by this?",
    "uncivil",
    "Would a polite board turn it down?",
    "Is anything rude in it, or worse?",
    "Is the tone nasty or vulgar?",
    "Would you hide it from children?",
)
GOOD_ASKS = (
    "Is the author civil?",
    "Would it pass on a friendly board?",
    "Does it keep to good manners?",
    "Could a moderator leave it alone?",
)
SCALES = (
    ("nothing to do", "a word with the author", "removal, as a group is attacked"),
    ("civil", "ill-mannered", "bigoted"),
    ("harmless", "insulting or vulgar", "attacks a group"),
    ("no breach", "breach of courtesy", "breach of the rule on protected groups"),
    ("let it stand", "star out the words", "delete it"),
)


def post(rng: random.Random) -> Iterator[Example]:
    """A post and whether it is hateful, merely offensive or fine."""
    kind = rng.choice(("hate", "rude", "fine", "fine"))
    parts = [rng.choice(POSTS[kind])]
    roll = rng.random()
    if roll < 0.35:
        parts.append(rng.choice(POSTS[kind]))
    elif roll < 0.6:  # a harmless sentence beside it changes nothing
        parts.insert(
            rng.randint(0, 1),
            rng.choice(
                (
                    "Just saw the news.",
                    "{Good morning|Hello} {city}.",
                    "It is {day} again.",
                    "Read the article first.",
                    "@{name}",
                    "Long day at work.",
                    "My two cents:",
                    "{url}",
                    "{time}, still awake.",
                    "@{name} @{name}",
                    "Back from {city}.",
                    "#{city}",
                    "Third coffee today.",
                    "RT @{name}{nn}:",
                    "(thread, {n} parts)",
                    "Unpopular or not:",
                    "Saw this in {city} on {day}.",
                    "To {name}:",
                )
            ),
        )
    group = rng.choice(GROUPS)
    text = " ".join(spin(rng, p.replace("{g}", group)) for p in parts)
    text = text[0].upper() + text[1:]
    roll = rng.random()
    text = (
        text.lower()
        if roll < 0.2
        else text.upper()
        if roll < 0.24
        else text.rstrip(".") + rng.choice(("!!", " lol", " smh", " #{day}")).replace("{day}", "monday")
        if roll < 0.35
        else text
    )
    if rng.random() < 0.15:
        text = f"@{spin(rng, '{name}{nn}').lower()} {text}"
    state = wrap(rng, text, ("post", "comment", "tweet", "message", "text"))
    asked = rng.random()
    if asked < 0.6:
        yield choice(rng, "made:speech_kind", state, ASKS, KINDS, RULED[kind])
    if asked > 0.3:
        yield noul(
            rng,
            "made:speech_hate",
            state,
            kind == "hate",
            HATE_ASKS,
            NO_HATE,
            ("a kind of people is run down or threatened", "none is, even if the words are rude"),
        )
    if rng.random() < 0.5:
        yield noul(
            rng,
            "made:speech_bad",
            state,
            kind != "fine",
            BAD_ASKS,
            GOOD_ASKS,
            ("it insults, swears or runs people down", "well-mannered, whatever the topic"),
        )
    if rng.random() < 0.25:
        yield score(
            rng,
            "made:speech_level",
            state,
            ("fine", "rude", "hate").index(kind),
            (
                "How far must a moderator go?",
                "severity",
                "How serious is the breach?",
                "breach_level",
                "How much harm do the words do?",
            ),
            SCALES,
        )
