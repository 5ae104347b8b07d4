# ruff: noqa: E501  (a table of texts, one a line)
"""What reviews and messages to companies are put together from. ``spin`` resolves the braces; ``{x}`` is the thing reviewed."""

from __future__ import annotations

# kind -> (what {x} may be, aspects, sentences that only describe)
ASPECT = tuple[str, str, str]
KINDS: dict[str, tuple[str, tuple[ASPECT, ...], tuple[str, ...]]] = {
    "film": (
        "the film|the movie|this picture|{name}'s latest|the sequel|this remake|the comedy|this thriller|the documentary|the western",
        (
            ("acting", "the {acting|cast|lead} {carries every scene|is superb|feels entirely true|has real warmth}|{name} {gives the performance of a career|lights up the screen|steals every scene}|even the smallest parts are perfectly cast", "the {acting|cast} {is wooden|never convinces|is all shouting|looks bored}|{name} {sleepwalks through the role|is hopelessly miscast|mumbles every line}|nobody on screen seems to want to be there"),
            ("plot", "the {plot|story|script} {keeps you guessing|never loosens its grip|is tight and clever|builds to a stunning end}|every thread of the story pays off", "the {plot|story|script} {makes no sense|is full of holes|drags on forever|falls apart in the last act}|you see every twist coming from a mile off|the ending is a cheat"),
            ("camera", "the {camera work|photography|light} {is gorgeous|is a feast for the eyes|takes your breath away}|each frame could hang in a gallery", "the {camera|editing} {shakes until you feel sick|is a mess|is as flat as a soap opera}|half of the scenes are too dark to see"),
            ("music", "the {score|music} {lingers for days|lifts every scene|is perfectly judged}", "the {score|music} {never shuts up|tells you what to feel in every second|sounds like a phone menu}"),
            ("dialogue", "the dialogue {sparkles|is razor sharp|rings true}|I laughed until it hurt|lines I still quote", "the dialogue {clunks|is painful to hear|could have been written by a committee}|not one joke lands|the audience groaned"),
        ),
        ("{name} plays a {detective|widow|teacher|retired spy} who {returns to {city}|inherits a farm|loses a bet}.", "The film opens in {city} in {year}.", "After {nn} minutes {a stranger|her brother|an old rival} turns up with {a map|a letter|a child}.", "It is {name} {last}'s {second|third|first} film as director.", "Then {the car breaks down|the mother falls ill|a body is found} and they {have to|must} {hide|go north|tell the police}.", "It is based on a {novel|play} from {year}.", "The villain, played by {full}, wants to {blow up a dam|buy the village|find the diamond}.", "We saw it on {day} in a full house.", "The second half moves to {a prison|a ship|the desert}, where {the two brothers meet|the trial begins}.", "It runs for two hours and {n} minutes."),
    ),
    "book": (
        "the book|this novel|the third volume|her new book|the biography|this guide|the collection",
        (
            ("writing", "the {prose|style|writing} {sings|is a pleasure|is crystal clear|is precise and warm}|not a word is wasted", "the {prose|style|writing} {is leaden|is clumsy|reads like a tax form|is drowned in adjectives}|every page needs an editor"),
            ("characters", "the {characters|people in it} {feel like friends|come alive|are drawn with love and wit}|I missed {name} when it was over", "the {characters|heroes} {are cardboard|never become real|are impossible to care about}|I could not tell the sisters apart"),
            ("story", "I {could not put it down|read it in one night|turned the last page with tears}|the {story|tension} {builds beautifully|holds to the end}", "I {gave up halfway|skipped whole chapters|fell asleep over it|had to force myself to go on}|the story goes nowhere"),
            ("research", "{the research|the detail} is {impressive|astonishing}|I learned something on every page", "the facts are {wrong|sloppy|copied from the web}|even the map has errors"),
        ),
        ("It tells the life of a {surgeon|sailor|printer} from {city}.", "The author spent {n} years in {city}.", "{name} leaves home at {nn} and takes work on a ship.", "The book has {nn} chapters and an index.", "Each part begins with a letter by {full}.", "My book club chose it for {month}.", "The middle part is about the war of {year}.", "I bought it at the station in {city}.", "It was published in {year}."),
    ),
    "product": (
        "the kettle|this phone|the headset|this vacuum|the backpack|this camera|the router|the blender|this chair|the drill|the tablet|this printer|the lamp|the stroller",
        (
            ("battery", "the battery {lasts for days|outlives everything else I own}|it charges in no time", "the battery {dies within an hour|is dead by noon|swelled up after a month}|it will not hold a charge"),
            ("build", "it {feels solid|is built like a tank|looks and feels expensive}|after two years not a scratch", "it {feels cheap|fell apart after a week|cracked on the first day}|the hinge {broke|snapped} at once|flimsy plastic all over"),
            ("use", "setting it up {took two minutes|was child's play}|even my {father|grandmother} gets along with it|the menus are a model of clarity", "setting it up {took a whole evening|was a nightmare}|the {manual|menu} {is useless|makes no sense}|the buttons are so small that nobody can hit them"),
            ("sound", "the {sound|picture} is {crisp|rich|stunning}|it is so quiet that you forget it", "the {sound|picture} is {muddy|tinny|washed out}|it {rattles|hums|squeals} like an old tractor"),
            ("price", "a {steal|bargain} at this price|it costs half of the famous one and does more", "overpriced {junk|by far}|not worth {half of it|a tenth of the price}|money down the drain"),
        ),
        ("I ordered it on {date}.", "It comes in {black|grey|blue} and weighs {n}00 grams.", "In the box are a cable and a bag.", "I replaced my old one from {year}.", "The maker is {co}.", "I use it for {work|cooking|travel|the garden} about {n} times a week.", "The model number is {id}.", "It has {n} settings and a timer.", "It arrived on {day}."),
    ),
    "hotel": (
        "the hotel|this guesthouse|our apartment|the resort|the hostel|the inn",
        (
            ("room", "the room {was spotless|had a view to die for|was huge and silent}|I slept like a baby", "the room {smelled of smoke|was filthy|was the size of a cupboard|had mould on the wall}|I did not sleep a minute"),
            ("staff", "the staff {went out of their way|remembered our names|could not have been kinder}|{name} at the desk {was a gem|saved our trip}", "the staff {ignored us|were rude|rolled their eyes}|{name} at the desk {shouted at my wife|could not be bothered to look up}"),
            ("breakfast", "breakfast {alone is worth the trip|was a feast|had everything one could wish for}", "breakfast {was stale|was a sad affair|consisted of cold toast}|the coffee was undrinkable"),
            ("location", "you step out and are {at the beach|in the old town}|the location could not be better", "the location {is dreadful|is next to a motorway}|a building site woke us at six"),
            ("pool", "the pool {was heaven|was warm and empty}|the kids never wanted to leave", "the pool {was green|was closed all week}|the lift was broken and so was the shower"),
        ),
        ("We stayed for {n} nights in {month}.", "We had room {nn} on the {second|fourth} floor.", "The house has {nn} rooms and a garage.", "It is {n} minutes from the station.", "I was in {city} for a conference.", "Check-in is at {time}.", "The house was built in {year}.", "We were two adults and {n} children."),
    ),
    "restaurant": (
        "this place|the restaurant|the bistro|the new pizzeria|the noodle bar|this cafe",
        (
            ("food", "the {soup|fish|pasta|lamb|curry} {was divine|melted in the mouth|tasted like at my grandmother's}|I licked the plate|everything was fresh and full of flavour", "the {soup|fish|pasta|lamb|curry} {was cold|tasted of nothing|was burnt|was swimming in grease}|half of it went back|I was sick all night"),
            ("service", "the waiters {were attentive|read our wishes from our eyes}|we were seated at once and never rushed", "we waited {an hour|{nn} minutes} for {a menu|the drinks}|the waiter {forgot half of the order|was arrogant}|they charged us for dishes we never had"),
            ("mood", "the {room|terrace} is {lovely|cosy|full of charm}|a perfect evening", "the music was so loud that we shouted|the table was sticky|it smelled of drains"),
            ("price", "and all that for {a song|very fair prices}|huge plates for little money", "{money} for that is {robbery|a joke}|tiny portions at shameless prices"),
        ),
        ("We came on {day} with {n} friends.", "The menu has {nn} dishes.", "I had the {soup|lamb|fish} and {name} the {pasta|salad}.", "It is on the corner by the {church|bridge}.", "They opened in {month}.", "We had booked for {time}.", "They also deliver.", "The cook comes from {city}."),
    ),
    "service": (
        "the app|their hotline|this bank|the gym|the course|the delivery service|our internet provider|the clinic|the garage",
        (
            ("help", "{name} {solved it in five minutes|called back within the hour|stayed until it worked}|they {listen|keep their word}", "I was passed from one to the next|nobody {calls back|feels responsible}|{n} weeks and still no answer"),
            ("result", "it {does exactly what it promises|has saved me hours}|everything {worked at once|is running smoothly again}", "it {crashes all the time|lost all my data}|they {made it worse|damaged my car}|I am worse off than before"),
            ("price", "worth every cent|fair and clear prices|they even gave us back {money}", "hidden fees everywhere|they doubled the price without a word|you pay extra for each breath"),
            ("people", "friendly people who know their trade|I always feel in good hands", "arrogant and clueless people|they treat you like a number"),
        ),
        ("I have been with them since {year}.", "I signed up in {month}.", "They have {n} branches in {city}.", "My contract number is {id}.", "I was there on {day}.", "They are open until {time}.", "It was for my {mother|son|company}."),
    ),
}  # fmt: skip
# what happens in a film or a book; as grim or glad as it may be, it says nothing of the verdict
STORY = (
    "{When|After|Before|While} {name} {finds|loses|steals|burns|hides|sells} the {letter|ring|map|key|diary|gun}, {name} {flees to {city}|calls the police|begins to lie|falls in love with {name}|takes revenge|goes mad with grief}.", "{name}, a {bitter|cheerful|poor|brave|lonely|cruel} {soldier|nurse|farmer|judge|pianist|thief}, {meets|betrays|saves|marries|murders} {name} {on a train|in {city}|during the war|at a funeral|in a storm}.", "{Meanwhile|Years later|That night|The next morning}, {the village|the family|her sister|the old king|his best friend} {starves|celebrates|waits for news|turns against them|dies in a fire|prays for a miracle}.",
    "{He|She} {hates|loves|fears|admires} {the sea|his father|the boss|her dead husband|God}, and {nobody knows why|we are told how that began|we learn it from a letter}.", "There is a {long|short|quiet|bloody} scene in a {kitchen|courtroom|hospital|church|submarine} in which {name} {confesses|weeps|laughs|says nothing|shoots {name}}.", "{The first|One} part {deals with|is about} {hunger|war|a happy summer|a murder|friendship|a lost dog}.", "{name} wants {justice|money|peace|to die|to dance|a child}, {name} wants {nothing|revenge|the house|to go home}.",
    "{In the end|At last|Near the middle} {they|the brothers|the lovers} {part|are saved|are caught|win the race|bury the dog|come to terms}.", "{Like|As} in {name} {last}'s {earlier work|debut|trilogy}, {the weather|a dead child|an old song} {plays a part|returns again and again|connects the parts}.", "The story stays {with {name}|with the girl|with the killer} for {a while|a whole night|the next part}.",
)  # fmt: skip
PRAISE = "{superb|delightful|gripping|charming|brilliant|wonderful|sharp|flawless|memorable|clever|refreshing|first-rate|terrific|impressive|lovely|excellent|outstanding|remarkable|enchanting|rock solid|splendid|top notch|spot on|a joy|a treat|a gem|a pleasure|fantastic|beautifully done|amazing|perfect|satisfying|heartfelt}"
BLAME = "{dull|tedious|sloppy|lifeless|clumsy|awful|dreadful|a mess|a letdown|forgettable|lazy|shoddy|flimsy|pointless|embarrassing|painful|a chore|a disgrace|hollow|half-baked|unbearable|cheap|bland|infuriating|second-rate|useless|terrible|a joke|horrible|a waste|annoying|miserable|pathetic|disappointing}"
# whole sentences on the thing as such; {p} praises, {b} blames
GOOD = (
    "{X} is {p}.", "{X} is {really|simply|nothing short of|truly|just} {p}.", "{What|Such} a {wonderful|great|delightful} surprise.", "I {loved|adored|thoroughly enjoyed} {x}.", "I cannot recommend {x} {enough|highly enough}.", "{Do yourself a favour and get|Go for} {x}.", "I would {do it again|come back|buy again} {in a heartbeat|any time|tomorrow}.", "{Hats off|Bravo} to everyone {involved|behind it}.", "{X} {deserves|has earned} every {bit of praise|one of its five stars}.",
    "{Finally|At last} somebody {gets it right|who cares}.", "{Nothing|There is nothing} {dull|cheap|clumsy|bland} about {x}.", "{X} is {anything but|far from|not in the least} {b2}.", "I have {nothing|not a single thing} to {complain about|criticise}.", "{You could do a lot worse than|It is hard to find fault with} {x}.", "{I expected|I was prepared for} something {b2}, but {x} {turned out to be|was} {p}.", "{Everyone|My friends} had warned me that {x} would be {b2}; {they were wrong|far from it}.", "{I was sceptical|I had my doubts} at first. {Not any more|I take it all back|How wrong I was}.",
    "{Forget the bad press|Do not believe the critics}: {x} is {p}.", "{I never thought I would say this, but|To my own surprise,} {x} won me over.", "{Small flaws aside|For all its faults|Despite a slow start}, {x} is {p}.", "{It|This} {beats|leaves behind} {everything|all the others} I {know|have tried}.", "Not bad at all.", "If only there were more like {x}.", "I would not {change|miss} a thing.", "{Better than|Twice as good as} {the first|the last one|I had hoped}.",
)  # fmt: skip
BAD = (
    "{X} is {b}.", "{X} is {really|simply|nothing short of|truly|just} {b}.", "{What|Such} a {terrible|huge|bitter} disappointment.", "I {hated|regret|could not stand} {x}.", "{Stay away from|Avoid|Save your money and skip} {x}.", "{Never again|Once and never again}.", "I {want my money|want my time} back.", "{X} {does not deserve|has not earned} {a single star|any praise}.", "{Nothing|There is nothing} {charming|clever|impressive|fresh} about {x}.", "{X} is {anything but|far from|hardly} {p2}.",
    "{I expected|I had hoped for} something {p2}, but {x} {turned out to be|was} {b}.", "{Everyone|My friends} had told me that {x} was {p2}; {they were wrong|I do not see it}.", "{I really wanted to like|I tried hard to like} {x}. {I failed|No chance}.", "{Do not believe|Ignore} the {hype|five-star reviews}: {x} is {b}.", "{A few good moments aside|For all the effort|Despite a promising start}, {x} is {b}.", "{It|This} used to be {p2}. {Those days are over|Not any more}.", "If I could give {zero stars|less than one star}, I would.", "{I have seen better|One can find better} {at a flea market|for free}.",
    "{A great choice|Perfect}, if you {enjoy being bored|like wasting money|want to be angry}.", "{Wow|Bravo|Congratulations}: {x} manages to be {b} {in every respect|from start to finish}.", "{I suppose|I am told} somebody {likes|needs} this. {Not me|I do not}.", "{X} is not {exactly|precisely} {p2}.", "{Worse than {the first|the last one|I had feared}|Not half as good as {the first|the last one|I had hoped}}.", "{My cat|A stone} {would do better|has more charm}.", "{Hardly|Scarcely} worth {the trouble|the time}.", "The best thing about {x} is {that it ends|the box|the way out}.", "I could not wait {for it to end|to leave|to send it back}.",
)  # fmt: skip
MIXED = (
    "{X} is {neither good nor bad|okay|average|so-so|middling}.", "{Some things I liked, some I did not|Half of it I liked, the other half I did not}.", "{Nothing special|Nothing to write home about}, but {no disaster either|it does the job}.", "{I am torn|I do not know what to make of it}.", "{Good in parts|Ups and downs}.", "{Three stars|A lukewarm three stars}.", "{For each strength there is a weakness|The good and the bad cancel out}.",
)  # fmt: skip
BUT = (
    "{True|Admittedly|Sure|Granted|Yes}, ",
    "{I must say that|I will admit that|Credit where it is due:} ",
    "{On the other hand|Then again|That said}, ",
    "",
)
# messages to companies; {a} is a handle
TO_COMPANY: dict[str, tuple[str, ...]] = {
    "positive": (
        "{a} {thanks|thank you|big thanks} to {name} {at gate {nn}|on the phone|in the {city} branch} {who found my bag|for getting us on an earlier one|for the quick help}!", "{a} {smoothest|easiest|best} {trip|check-in|switch} {ever|in years}.", "Just {landed|arrived} {early|ahead of time} with {a}, {crew was so kind|what a crew}.", "{a} {my parcel|the refund|my suitcase} {came today|is here already}, {impressed|that was fast|you rock}.", "{a} {the new app|the update|the new lounge} is {p}{ :)|!|}",
        "Shout out to {a}: {lost my wallet on board and it came back by mail|they waived the fee when my dad was ill}.", "{a} {after all the delay|what began badly ended well}: {name} {fixed everything|made up for it}. {Thank you|You have a fan}.", "{a} {not a single problem|zero complaints} {in {nn} trips|since {year}}.", "{a} {never letting you go|I will fly nobody else|you have won a customer}.", "{a} you {made my {daughter|mom}'s day|deserve a raise}, {thanks again|seriously}!",
    ),
    "negative": (
        "{a} {nn} minutes on hold {and counting|and then cut off}.", "{a} {still|again} no {bag|refund|answer|wifi} {after {n} days|since {day}}.", "{a} {thanks for nothing|thanks for losing my bag again|way to go, {n} hours late}{. Slow clap|}.", "{a} {great job|nicely done|brilliant}, {my seat is broken|we missed the wedding|you cancelled it while we stood in line}.", "Stuck {on the runway|in {city}|at the depot} for {n} hours {with|thanks to} {a}, {no water, no word|and nobody says a thing}.", "{a} {your app|the website|the kiosk} {crashes|eats my data|rejects my card} {each time|all day}, {fix it|how hard can it be}.", "{a} {I was told|you promised} {a call|a voucher|a new seat}. {Nothing|Crickets}.",
        "{a} {charged me twice|{money} for a bag, really|raised my bill without a word}{?!|}", "{a} {name} {hung up on me|was rude to my mother|laughed at us}.", "{a} is {it normal|it too much to ask} that {no one answers|a seat is clean|the heating works}?", "{a} why do I {even pay you|keep giving you chances}?", "{Never|Last time I} {flying|using|booking} {a} {again|, worst ever}.", "{a} {the fourth|yet another} delay {this month|in a row}. {Fed up|Do better}.", "{a} {how|why} can {a bag|a letter} take {nn} days from {city} to {city}?", "{a} you {broke|lost|bent} my {guitar|stroller|suitcase} and {offer {n} dollars|shrug}.", "{a} {unfollowing|switching to someone else|off to your rival}, {enough is enough|bye}.",
    ),
    "neutral": (
        "{a} do you {fly|deliver|go} to {city} {in {month}|on {day}s|}?", "{a} {how|where} do I {change my name on a ticket|add a bag|find my booking code}?", "{a} what is the {weight limit|opening time|fee} for {a bag|skis|a second seat}?", "{a} {can you|could you} {follow me so that I can DM you|check DM|send me the form}?", "{a} {flight|order|case} {id} is {for {day}|from {city} to {city}}.", "{a} {yes|ok}, {my code is {code}|I sent the number|DM sent}.", "{a} {to open|opens} a {lounge|shop|base} in {city} {in {month}|next year} {url}", "{a} is {the pool|gate {nn}|the store in {city}} open {today|on {day}}?",
        "{a} {I need to|I would like to} {change|move} {my flight|my slot} to {day}.", "{Flying|Travelling} {to {city}|home} with {a} {tomorrow|on {day}}.", "{a} {does|will} the {time|price|seat plan} change {in {month}|after {day}}?", "RT {a}: {fares|tickets} to {city} from {money} {url}", "{a} which {terminal|form|plug} {do I need|is it}?", "{a} {any|are there} seats left on the {time} to {city}?", "{a} reservation {code}, {n} people, {date}.", "{a} {wifi|meals} on {id}?",
    ),
}  # fmt: skip
