# ruff: noqa: E501  (a table of texts, one a line)
"""Sentences from forums and threads that mention groups: contempt for a group against reports, questions, quotes, replies and quarrels.

Most sentences name a group, and harmless ones hold as many loaded words (crime, hate, war, kill) as hateful ones, so neither decides.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .ask import Label, choice, noul, wrap
from .posts import BAD_ASKS, GOOD_ASKS, GROUPS, HATE_ASKS, NO_HATE
from .spin import spin

TEXTS: dict[str, tuple[str, ...]] = {
    "hate": (
        "{g} {are|have always been} {a cancer on|a burden to|the ruin of} {this country|every nation that lets them in|our neighbourhood}{.|, look it up.}", "You can {dress them up|school them|pay them} all you want, {g} {stay|remain} {savages|what they are|a lower breed}.", "{When|As soon as} {g} {move in|show up}, {crime|filth|decay} {follows|comes with them}, {it is in their nature|they cannot help it|always has been so}.", "{I would not|Nobody with sense would} {marry one of|share a table with|hire} {g}, {that is how mongrels are made|they stink|keep your blood clean}.",
        "{g} {run|control|own} {the banks|the papers|the schools} and {want us gone|laugh at us|plan our end}.", "{Round|Lock} {them|all {g}} up and {ship them off|throw away the key|be done with it}.", "{The only good thing about|What is the use of} {g}{: there are still few of them here|? None, they eat and breed}.", "{Poor|Oh the poor} little {g}, {always|forever} {whining|playing the victim}. {Parasites|Go home then|Nobody wants you}.",
        "{Typical {g}|That is {g} for you}, {lie, steal and|cheat and then} {beg|cry|hide behind the law}.", "{Women|Girls|Wives} {are too emotional to|have no business to|should never} {lead|vote|drive}, {their place is at home|give them a mop}.", "My {uncle|grandfather} was right: never {trust|turn your back on|help} {g}, {they are animals|not one of them is honest}.", "{We|Our people} must {stay|keep} {pure|apart}, {no mixing with|out with} {g}.",
        "{Every|Each} time I {see|smell} {g} in the {bus|shop|school} I {feel sick|want to spit|cross the street}.", "{God|Nature} made {g} {inferior|to serve}, {science knows it|deny it all you like}.", "{So|And} {g} now get {a mosque|a parade|a holiday|a school} {paid by us|of their own}? {Burn it|Vermin first, rats next|They should be kicked out}.", "{No wonder|Of course} {the street is dirty|the school is failing|wages fall}, {look how many {g} live there|that is what you get with {g}}.",
        "{Hope|I hope} {the boat sinks|winter gets them}, {g} {have no right to be here|are not worth the rescue}.", "{g}? {Disgusting|Freaks|Subhuman}, {the lot of them|every single one}.", "{The sooner|Once} {g} are gone{ from {city}|}, the {better|cleaner the place}.", "{Sure, not all|They say not all} {g} {steal|are stupid}. {Just the ones that breathe|Name one}.",
        "{Statistics|The figures|Brain scans} {prove|confirm} that {g} are {less gifted|prone to crime|a different species}{, only nobody prints it|}.", "{It is|This was} {no accident|planned long ago}: {g} {are brought in to replace us|pull the strings in every ministry}.", "{I bear them no ill will|No hard feelings}, {g} {simply do not belong among us|should live apart, with their own kind|will be happier where they came from}.", "{You cannot|Nobody can} make {citizens|neighbours} out of {g}, {water does not mix with oil|a wolf stays a wolf}.",
        "{Where there are|Wherever you find} {g}, there is {dirt|theft|ruin} {and excuses|, no exception}.", "{Children of|Half-breeds from} {g} {should not sit in|drag down} our {classes|schools}.", "{Compare|Look at} {their lands with ours|what {g} ever invented}: {nothing|mud huts}, {that says it all about {g}|and we should call them equal}?", "{g} {out|go home}{, simple as that|!| and take your children with you}.", "{One day|Soon} {the people|we} will {wake up|rise} and {g} will {pay|run}{, mark my words|}.",
        "{They are|These are} not {like us|our kind}, {g}{ I mean|}; {let one in and ten follow|they will never be}.", "{Funny how|Strange that} {the town|our school} was {quiet|decent} {until|before} {g} {came|were let in}.", "{They|Those people} {take and take|breed and beg}, {and we call it diversity|and nobody says a word}. {g}, {who else|naturally}.", "{Keep your|No} {sons|daughters} {away from|for} {g}, {blood tells|you cannot wash that out}.",
        "{A child of mine|My boy} {shall not|will never} {share a desk|play} with {g}, {there are limits|call me what you like}.", "{Civilisation|Progress} {ends|stops} where {g} begin{, look at any map|}.", "{Our|The} ancestors {knew|had good reason} {to keep {g} outside the walls|why {g} were kept apart}{, and we forgot|}.", "{If they want|Let them have} {rights|respect}, {g} {should become human first|can have them somewhere else}.",
        "{Such people|Folk like that} {cannot help|will always} {lying|stealing}: {g} {learn it in the cradle|have it from their fathers}.", "{The problem|The trouble} with {this town|our time} {has a name|is simple}: {g}.",
    ),
    "rude": (
        "{You|u} {are a|really are a} {moron|clown|troll|pathetic liar}, {name}{, get off this board|}.", "{What a|Such a} {stupid|dumb|idiotic} {thread|question}, {did you even read it|close it}.", "{Shut up|Stuff it}, {name}, {nobody likes you|your posts are crap}.", "{The|That} {mayor|coach|editor} is a {damn|bloody} {crook|idiot|disgrace}{ and you lick his boots|}.", "{Go|Why don't you go} {play in traffic|back to your cave}, {loser|jackass}.", "{Bullshit|Complete crap}, {name}. {You made that up|You have no clue}.",
        "{I don't give a damn|Who the hell cares} {what you think|about your holiday}{, jerk|, dimwit|}.", "{This|Your} {forum|moderator} {sucks|is a joke}, {kiss my ass|I am out, idiots}.", "Listen, {dummy|genius|smartass}, {g} {have nothing to do with it|are not the topic here}.", "{name} is {as thick as a plank|a drunk and a fraud|full of it}, {ignore him|what a tool}.",
        "{Damn it|Shit}, {I|my stupid phone} {posted this twice|deleted the whole damn text}.", "{Who the fuck|What idiot} {moved the thread|locked this}{?| again?}", "{This weather|My car|The ferry} is {shit|a pile of crap}{, fuck it|}.", "{You lot|You guys} are {full of shit|drunk as hell}{ and I love it| lol|}.",
    ),
    "fine": (
        "{Are there|How many} {g} {in|live in} {city}{ now|, does anybody know|}?", "{About|Some} {nn} percent of {g} {in that region|there} {own a house|speak two languages|finished school}, {according to|says} the {census|report}.", "{My|Our} {wife|neighbour|teacher|coach|boss} is {one of {g}|from a family of {g}} and {we get on well|runs the choir|has lived here since {year}}.", "{The|A} law of {year} {kept|barred} {g} from {voting|schools|certain jobs}{, a shameful chapter|}.", "Police in {city} {arrested|are looking for} a man who {attacked|robbed|killed} {two|several} {g} {on {day}|last week}.",
        "{It makes me sick|I am ashamed} how {people|some here} {talk about|treat} {g}.", "{g} are {people|human beings} like {you and me|everybody else}{, stop this nonsense|, end of story}.", "{Saying|To say} that {g} are {thieves|animals|inferior} is {racist|a lie|plain hate}, {name}.", "\"{Throw {g} out|{g} are vermin|Kill all {g}}\" {was sprayed on|stood on} the wall of {the school|a shop} {in {city}|last night}. {The owner is in shock|Who does that}?", "He {called|used to call} {g} {parasites|filth}, and {the court fined him|the party expelled him|I left the room}.",
        "{Anyone|Is anybody} {going to|coming to} the {meeting|march|barbecue} in {city} {on {day}|this weekend}?", "I {moved|want to move} to {city} because {rents are lower|of the schools|I found work}.", "{What|Which} {books|songs} {would you|do you} recommend on the {history of {g}|war of {year}|old kings}?", "{The|That} {government|council|minister} {lies|fails us} on {taxes|housing|immigration}, {vote them out|we need another policy}.", "{I think|In my view} {immigration|welfare} should be {lower|limited|better organised}, {without blaming {g}|and those who are here treated well}.",
        "I {hate|can't stand} {this weather|my job|the traffic in {city}|losing}, {it is killing me|it makes me crazy}.", "The {band|team|class} has {two|three} {g} in it, {they are great|and we won the cup|not that it matters}.", "{As|Speaking as} {one of {g}|the son of {g}}, I {am tired of being asked|can tell you it was not easy|feel welcome here}.", "{Welcome|Hello} to the {board|forum}, {name}! {Where are you from?|Tell us about yourself.}", "{Thanks|Good post}, {name}. {I did not know that.|Do you have a link?}",
        "{g} were {murdered|deported|enslaved} {by the thousands|there} in {year}{, we must not forget|}.", "In the {nineties|eighties|old days}, {g} {came to|settled in} {city} to work in the {mills|mines|port}.", "{Not all|By no means all} {g} {agree|think the same}{ on this|}, {ask them|I know many}.", "{Hate|Contempt} for {g} {starts with jokes|has no place here}. {Reported|Please delete that post}.", "The {film|article} is about {g} who {fight|served} in the army.", "{Can|Could} a {man|woman} {from a family of {g}|of another faith} {marry in your church|join your club}?",
        "{The race|That race} was over {by noon|after {nn} laps}, {black clouds|white flags} {everywhere|over the track}.", "{A question of|Thoughts on} {faith|origin|language} and {school|work}, part {n}.", "{And then|So} {the whole family|my grandparents} {fled|left} {with one suitcase|before the war}.", "{g}, {mostly|many of them} {farmers|teachers|young}, {as the book says|according to the list}.", "{Of course|Yes}, {the old text|the chapter} {on|about} {slavery|the colonies|the camps}{ is on page {nn}|, I read it twice|}.",
        "{Source|Link}: {url} ({g} in {city}, {year})", "{White|Black} {families|voters|students} {made up|were} {nn} percent {of the town|in that survey}.", "{By|From} {the border|the harbour} it is {nn} miles to {city}.", "{The|His} {pastor|imam|rabbi} {spoke|wrote} {about forgiveness|against the war}{ on {day}|}.", "{Same|Not the same} {with|for} {g}, {I think|as far as I know}.", "{How|When} did {g} {get|lose} {the vote|citizenship} {there|in that country}?", "{Most|Some} of {the members|us} here {are|know} {g}.",
        "{In {year}|That year} {the king|the state} {drove {g} out of|forbade {g} to enter} {city}{, as every schoolbook tells|}.",
        "My {son|daughter} {was beaten up|got robbed} {at school|on the train}; {the police have a video|she is fine now}.", "{A friend|Someone} {told me|wrote} {he does not like {g}|that {g} get everything for free}. {I asked why and he had no answer|That is simply not true}.", "{The match|The debate} {was a slaughter|got ugly}, {we were destroyed {n} to 0|but no one was insulted}.", "{City|Town} {shelter|clinic} for {g} {opens|looks for helpers} {on {day}|in {month}}.",
        "{They are|They were} {tired|hungry} when they {came|arrived}, so {we|the parish} {made soup|found beds}{, {g} mostly|}.", "{They|Those people} {live|lived} {next door|down the road} {and keep bees|since {year}}; {g}, {if that matters|originally}.", "{Us|We} {g} {always|do} {cook too much|arrive late}{ lol|, my mother says|, guilty}.", "{Between us|Among} {g} we {joke about it|call each other worse}{, it is all love|}.",
        "{g} {had to wear|wore} {a badge|special clothes} {in {city}|under that king}{ until {year}|}.", "{After|Before} the war {nn} thousand {g} {left|were sent out of} {the province|{city}}, {the lists survive|a sad story}.", "{The|A} party {wants|proposes} {fewer visas|a cap on asylum|stricter border checks} from {year}{, and I am against it|, and I agree, with exceptions|}.", "{Do|Would} {g} {count|appear} as {a race|a nation|a faith} in the {census|old texts}?",
        "{Immigration|Asylum} numbers {rose|fell} by {nn} percent{, mostly {g}|}{, says the ministry|}.", "{My|Her} grandfather {was called|got called} {vermin|a savage} {for being one of {g}|at school}, {he never forgot it|that is why I write this}.", "{Race|Skin colour|Religion} {is|was} {on the form|a question in the survey}, {you may leave it blank|column {nn}}.", "{White|Black|Brown} {people|folks} {from here|in my family} {voted|moved} {both ways|to {city}}{, by the way|}.",
    ),
}  # fmt: skip
STANCES: dict[str, Label] = {
    "against_a_group": (("contempt_for_a_group", "Contempt or hostility to a kind of people"), ("group_run_down", "A people, faith or sex is run down"), ("bigotry", "turns on people for what they are"), ("exclusion", "wants people shut out or treated as lesser")),
    "against_a_person": (("quarrel", "Insults somebody or swears, no group is run down"), ("personal", "name-calling or foul words"), ("bad_manners", "rude to a person or to nobody")),
    "against_nobody": (("matter_of_fact", "Reports, asks, disagrees or defends; nobody is run down"), ("within_the_rules", "ordinary, whatever it mentions"), ("small_talk_or_fact", "an everyday sentence"), ("no_ill_will", "speaks of groups, history or politics without contempt")),
}  # fmt: skip
STANCE = {"hate": "against_a_group", "rude": "against_a_person", "fine": "against_nobody"}
TWO: dict[str, Label] = {
    "against_a_group": STANCES["against_a_group"],
    "other": (("no_group_attacked", "No kind of people is run down"), ("anything_else", "Everything else, also when rude or on a sad topic"), ("groups_left_in_peace", "no hostility to people of a kind")),
}  # fmt: skip
ASKS = (
    "Against whom is the sentence, if anybody?",
    "What is the writer's stance?",
    "File the reported sentence.",
    "Where does the moderator put this?",
    "Is a group run down, a person insulted, or neither?",
    "stance_check",
)
TWO_ASKS = (
    "Is a people, faith or sex run down?",
    "Would the board's rule on protected groups remove it?",
    "Outcome of the bigotry check?",
    "group_check",
)


def sentence(rng: random.Random) -> Iterator[Example]:
    """One or two sentences of a thread."""
    kind = rng.choice(("hate", "hate", "hate", "rude", "fine", "fine", "fine", "fine"))
    group = rng.choice(GROUPS)
    parts = [rng.choice(TEXTS[kind])]
    if kind != "fine" and rng.random() < 0.2:  # a harmless sentence before it changes nothing
        parts.insert(0, rng.choice(TEXTS["fine"][10:14]))
    elif rng.random() < 0.2:
        parts.append(rng.choice(TEXTS[kind]))
    text = " ".join(t[0].upper() + t[1:] for t in (spin(rng, p.replace("{g}", group)) for p in parts))
    roll = rng.random()
    text = text.lower() if roll < 0.15 else text.replace(".", " .").replace(",", " ,").replace("?", " ?") if roll < 0.4 else text
    state = wrap(
        rng,
        text,
        ("post", "comment", "sentence", "text", "reply"),
        thread=rng.choice(("general", "news", "off topic", "introductions")),
    )
    roll = rng.random()
    if roll < 0.35:
        yield choice(rng, "made:forum_kind", state, ASKS, STANCES, STANCE[kind])
    elif roll < 0.55:
        yield choice(rng, "made:forum_two", state, TWO_ASKS, TWO, "against_a_group" if kind == "hate" else "other")
    if rng.random() < 0.7:
        yield noul(
            rng,
            "made:forum_hate",
            state,
            kind == "hate",
            HATE_ASKS,
            NO_HATE,
            ("contempt for a group of people", "anything else, also rude words, quotes that are condemned, and sad facts"),
        )
    if rng.random() < 0.35:
        yield noul(
            rng,
            "made:forum_bad",
            state,
            kind != "fine",
            BAD_ASKS,
            GOOD_ASKS,
            ("somebody is run down or insulted, or the words are foul", "nobody is hurt"),
        )
