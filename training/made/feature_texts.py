# ruff: noqa: E501  (a table of texts, one a line)
"""Single sentences of product reviews: what is said of one feature, and frames that keep or turn it.

A clause has a subject of its own, so that frames may deny it ("they say that ..., not mine"), compare it, or mean it ironically.
"""

from __future__ import annotations

# product -> (what it may be called, features as (noun, praise, blame)), alternatives between `` // ``; {m} is the product
Feature = tuple[str, str, str]
PRODUCTS: dict[str, tuple[str, tuple[Feature, ...]]] = {
    "camera": ("the camera|this camera|my {brand}|the little {brand}", (
        ("zoom", "the zoom reaches {as far as I need|across the whole lake} // the zoom is {smooth and quiet|quick and exact} // pictures at full zoom stay {sharp|crisp}", "the zoom {grinds like a coffee mill|jumps past the spot I want} // at full zoom everything turns to {mush|fog} // the zoom lever wobbles"),
        ("lens cap", "the lens cap {stays where it belongs|clicks into place firmly}", "the lens cap {falls off all the time|came off in my bag on day {n}|gets lost at every corner} // you have to take off the lens cap before you may even look at old pictures"),
        ("display", "the display can be read {in bright sun|even at the beach} // the screen tilts {both ways|to the front}", "in sunlight the display is {black|a mirror} // the screen scratches {if you so much as look at it|in no time} // the display shows colours that are not there"),
        ("picture quality", "the pictures {look like real life|need no retouching at all} // colours come out {warm and true|just as I saw them} // indoor shots come out without flash and without noise", "indoor pictures are {full of noise|orange} // every second shot is {blurred|out of focus} // the flash {washes out every face|gives everybody red eyes}"),
        ("menu", "all settings are {one button away|where you look for them} // my {mother|son} found the night mode without a manual", "you dig through {n} menus to turn off the flash // the menu forgets my settings whenever the power goes off"),
        ("battery", "one charge got me through {two weddings|a week in {city}} // it takes plain AA cells that you can buy anywhere", "the battery gives up after {nn} pictures // the battery door {pops open|needs tape to stay shut} // it eats a set of cells per afternoon"),
    )),
    "phone": ("the phone|this phone|my {brand}|the {brand} mini", (
        ("battery", "it runs {two|three} days on a charge // half an hour at the plug gives a full day", "the battery drops from 40 percent to nothing // I charge it at noon and again at five"),
        ("reception", "it has bars {in my cellar|where others have none} // calls are {clear|free of noise} even on the motorway", "calls drop {in every second street|the minute I walk into the kitchen} // the person at the other end hears {an echo|half of what I say}"),
        ("speaker", "the speaker is loud enough for the whole kitchen // the speakerphone makes a good radio", "the speaker buzzes // you cannot hear it ring from the next room // the volume goes from quiet to quieter"),
        ("size", "it slips into a shirt pocket // I can reach every key with one thumb", "it is too wide for my hand // the keys are made for {elves|toothpicks}"),
        ("software", "updates come {every month|without being asked} // it has none of the useless apps that others put on", "it came with {nn} apps that cannot be removed // since the update it freezes {on every call|twice a day} // the software {restarts whenever it likes|was clearly never tested}"),
        ("keypad", "the keys have a clear click // typing on it is quick and sure", "the {n} key sticks // the keys light up so dimly that I type blind"),
    )),
    "player": ("the player|this player|the {brand}|the music player", (
        ("sound", "the sound is {full and warm|clean right up to the top} // the bass is deep without booming", "there is a hiss behind {every song|the quiet parts} // the sound is {thin|muffled|like a bucket}"),
        ("set of earphones", "even the earphones in the box are good // the earphones sit well", "the earphones that come with it {hurt|went straight into the bin}"),
        ("software", "you drag the files over and that is it // it works with every computer in the house", "the software refuses {half of my files|to see the player} // you need their own program to copy one single song // the program {crashed my laptop {n} times|wants an account for everything}"),
        ("wheel", "the scroll wheel is quick even with {nn}00 albums", "the wheel {overshoots|reacts to the cloth of my pocket} // scrolling through my songs takes longer than listening to them"),
        ("storage", "my whole collection fits and there is room left", "{a third|half} of the space that they advertise is gone before you begin"),
        ("screen", "the names of songs are easy to read at arm's length", "the screen cuts off all titles after {nn} letters"),
    )),
    "printer": ("the printer|this printer|our {brand}", (
        ("ink tank", "one set of cartridges lasts {a school year|for {n} months} // refilled ink works just as well", "the ink costs more than the printer // it declares cartridges empty that are a third full // it refuses to scan because yellow is empty"),
        ("paper tray", "it swallows {cards, envelopes and thick paper|anything} without a jam", "it takes three sheets at a time and jams on all three // the paper tray {broke off|is made of yoghurt cups}"),
        ("wireless link", "it found the network by itself // printing from the phone works at once", "it loses the network every night // setting up the wireless took {n} evenings and a cousin"),
        ("speed", "it prints {nn} pages a minute, as promised", "the first page takes as long as a cup of tea"),
        ("noise", "you can print at night and nobody wakes up", "it screams as if {something were being killed|in pain}"),
    )),
    "router": ("the router|this router|the {brand} box", (
        ("range", "the signal reaches {the garden shed|all three floors} // there are no dead corners any more", "the signal is gone behind two walls // you have to sit next to it"),
        ("stability", "it has run for {n} months without one restart", "I pull the plug {twice a day|every evening} to get it back online // it drops the line whenever somebody uses the microwave"),
        ("setup", "it was running before the coffee was ready // the installer asks {n} plain questions and is done", "the setup page {does not open|is in no language I know} // the CD in the box asks for a system from {year}"),
        ("support", "the hotline picked up on the second ring and knew what to do", "support told me to {buy a new one|turn it off and on, {n} times} // their support has two answers, both wrong"),
        ("status light", "you can switch the lights off at night", "the blue light turns the bedroom into a disco"),
    )),
    "kitchen": ("the {machine|toaster|blender|kettle|coffee maker|mixer}|this {machine|blender|coffee maker}", (
        ("cleaning", "every part goes into the dishwasher // it rinses clean in {n} seconds", "crumbs {collect|go bad} where no brush can reach // you need a screwdriver to clean it"),
        ("lid", "the lid closes tight // nothing ever spilled", "the lid leaks // the lid {cracked|warped} after {n} washes // the lid drips on the counter each time"),
        ("noise", "you can talk while it is running", "it wakes the neighbours // it sounds like a plane taking off"),
        ("cord", "the cord is long enough for any kitchen", "the cord ends {nn} centimetres short of the socket"),
        ("heat", "it is hot in {n}0 seconds // the temperature stays where I set it", "one side burns while the other is still white // the handle gets too hot to touch"),
        ("motor", "the motor goes through {ice|frozen berries|nuts} like butter", "the motor {smelled of burning on day {n}|stalls on a ripe banana}"),
    )),
    "laptop": ("the laptop|this notebook|my {brand}|the tablet", (
        ("keyboard", "the keyboard is a dream for people who write a lot // the keys are firm and quiet", "the space bar only works in the middle // the keyboard bends in the centre"),
        ("fan", "you never hear the fan // it stays cool on the knees", "the fan howls {as soon as I open a page|through every call} // it gets hot enough to fry an egg"),
        ("hinge", "the hinge holds the screen at any angle", "the hinge creaks // the screen falls shut on a bumpy train"),
        ("speed", "it is awake before I have sat down // it does not even sweat with {nn} tabs open", "it needs {n} minutes to start // it stutters in plain text"),
        ("port layout", "it still has all the sockets one needs", "there is one single socket, and the charger needs it // you need an adapter for everything"),
        ("charger", "the charger is no bigger than a matchbox", "the charger weighs as much as the thing itself // the plug wobbles and stops charging"),
    )),
    "cleaner": ("the vacuum|this vacuum|the robot|my {brand}", (
        ("suction", "it pulls {cat hair out of the carpet|sand out of every crack}", "it pushes the crumbs around // dog hair stays where it is // it gives up on {rugs|anything bigger than dust}"),
        ("hose", "the hose turns freely and never kinks", "the hose {popped off|tore} after {n} weeks // the hose is half a metre too short for stairs"),
        ("bin", "emptying it is one click and no dust", "you breathe half of the dust again when you empty it"),
        ("weight", "I carry it up the stairs with one hand", "it is so heavy that I leave it in the cupboard"),
        ("filter", "the filter can be washed and costs nothing", "they charge {£|$|€}{nn} for a filter made of paper"),
    )),
    "software": ("the program|this app|the software|{brand} {n}.0", (
        ("interface", "everything is where one would expect it // my father learned it in an afternoon", "the most used button hides behind {n} clicks // they moved all buttons again for no reason"),
        ("speed", "it opens huge files in a blink", "it takes {nn} seconds to save a page // typing lags behind by a word"),
        ("import", "it read all my old files without a hitch", "it mangled {years|half} of my old data // it imports the text and loses all pictures"),
        ("help", "the help answers what people really ask", "the help pages describe another version // the help link leads nowhere"),
        ("free version", "there are no ads and no nagging", "it nags me to upgrade {every single day|after each click} // a window with ads pops up over my work"),
        ("sync", "what I write on the train is on my desk when I arrive", "it {lost|duplicated} my notes {twice|while syncing} // the sync stops without telling you"),
    )),
    "outdoor": ("the {tent|backpack|jacket|sleeping bag|lamp}|this {tent|backpack|jacket}", (
        ("zip", "the zip runs smoothly even with gloves", "the zip {jams|split} {on the first trip|every time} // the zip catches the cloth at each pull"),
        ("rain cover", "not one drop came through in {n} days of rain", "after ten minutes of drizzle I was wet // the seams let the rain in"),
        ("shoulder strap", "the straps sit well even after {nn} kilometres", "the straps cut into the shoulder // a strap tore off in {city}, of all places"),
        ("weight", "it is so light that I forget it is there", "it weighs twice of what the label says"),
        ("material", "it does not smell at all", "it stinks of glue, even after {n} weeks in the open"),
    )),
    "headset": ("the headset|this headset|my {brand}|the {brand}", (
        ("comfort", "I forget that I am wearing it // glasses fit under it", "my ears hurt after {nn} minutes // it slides off when you nod"),
        ("microphone", "colleagues say I sound as if I sat next to them", "nobody understands me over the microphone // the microphone picks up everything but me"),
        ("noise", "the noise of the train is simply gone", "the noise filter hisses louder than the noise"),
        ("cable", "the cable does not tangle and can be replaced", "the cable broke at the plug, as always // the cable rustles at each step"),
        ("pairing", "it pairs the moment I open the case", "it pairs with my neighbour's television rather than with me // the left ear loses the link {every few minutes|for no reason}"),
    )),
    "toy": ("the {toy|kit|game console|train set|scooter}|this {toy|kit|console}", (
        ("build quality", "all parts fit at the first try // every piece has a number and a bag", "{n} parts were missing // the parts do not fit without a file"),
        ("paint", "the colours survive bath and garden", "the paint {comes off|ended up on the carpet}"),
        ("manual", "a child of {n} can follow the pictures", "the instructions are a riddle // step {n} shows a piece that does not exist"),
        ("fun", "the kids have played with it every day since {month} // even the {teenager|grandfather} wants a turn", "the kids lost interest in {nn} minutes // it ended up under the bed by {day}"),
        ("battery use", "it comes with batteries for once", "it goes through batteries like sweets"),
    )),
}  # fmt: skip
# {g} a praising clause, {w} a blaming one, {G} and {W} the same with a capital, {f} the feature, {m} the product
FEATURE_GOOD = (
    "{G}.", "{G}.", "{G}!", "{G}, {which I did not expect|a real plus|and that at this price|just what I needed|no complaints}.", "{What I like best|Best of all|A big plus|One more good thing|Pleasant surprise|Pros}: {g}.", "{Great|Wonderful|Brilliant|Lovely|Just what I needed}: {g}.", "{G}. {Bravo|Well done|Clever|Top engineering|Thank you very much}, {brand}.", "I just love {it when|how} {g}.", "I {love|like} that {g}.", "{After|In} {n} {weeks|months} {of daily use|of hard use} I can say: {g}.", "{Some|Several} {reviews|people here} {say|write|complain} that {w}. {Not so with mine|I have seen nothing of the kind|Mine must be another one, it does not|That is simply not true}.",
    "{Don't|Do not} {believe|listen to} {those|people} who {say|write} that {w}.", "I was {afraid|warned} that {w}, but {no, nothing of the sort|that is not so}: {g}.", "{With|On} my old {one|{brand}} it was different: {w2}. {Here|With this one} {g}.", "My {brother|wife|neighbour} paid {twice|three times} as much for a {brand}, where {w}; {here|with mine} {g}.", "As for the {f}: {cannot complain|nothing to complain about|hard to beat|could not be better|no trouble so far|better than on any {brand} I had}.", "The {f} {is|may be} {nothing fancy|not the newest kind}, {but|still} {g}.",
    "{The {f} is not bad at all|Not one problem with the {f}|The {f} alone is worth the money}: {g}.", "{You would think|One expects} at this price that {w}. {Far from it|Wrong}.", "{It took me a day to get used to it|It looks plain}, but {g}.", "{Hats off|Kudos} to whoever designed the {f}.", "The {f} {beats|puts to shame} {everything I owned before|the one on my {brand}}.", "{I bought it|It was worth buying} for the {f} alone.",
)  # fmt: skip
FEATURE_BAD = (
    "{W}.", "{W}.", "{W}!", "{W}, {which is a shame|what were they thinking|and that at this price|as if nobody had tested it|how annoying}.", "{What bothers me|Worst of all|A big minus|My complaint|One gripe|Cons|The catch}: {w}.", "I {hate|do not like|cannot believe} that {w}.", "{After|In} {n} {weeks|months} {of daily use|of hard use} I can say: {w}.", "{The box|The ad|Their website|The seller} {claims|promises|says} that {g}. {I wish|Not in my house|Nothing of the sort|Mine never did}.",
    "{Don't|Do not} {believe|listen to} {those|people} who {say|write} that {g}.", "I had {hoped|read} that {g}. {Sadly it is not so|In truth it is the other way round}: {w}.", "With my old {one|{brand}} {g2}. {Here|With this one} {w}.", "My {brother|wife|neighbour} paid half as much for a {brand}, where {g}; {here|with mine} {w}.", "My old one {did|handled} the {f} {much better|in half the time}.", "As for the {f}: {not what I would call good|could hardly be worse|leaves a lot to be desired|anything but impressive|I have seen better on a toy}.",
    "{Great|Wonderful|Brilliant|Lovely|Just what I needed}: {w}.", "{W}. {Bravo|Well done|Clever|Top engineering|Thank you very much}, {brand}.", "I just love {it when|how} {w}. {Not|Said nobody ever|I really do not}.", "{Did nobody try the {f} first|Is this what they call {f}}? {W}.", "The {f} {looks|sounds} {good|clever} on paper, but {w}.", "{The {f} could have been good|So close}, but {w}.",
    "You get used to a lot, but not to this: {w}.", "I wish {I had known about the {f}|someone had told me about the {f} before I bought it}: {w}.",
)  # fmt: skip
# the verdict is on the product, whatever the feature is like
OVERALL_GOOD = (
    "{W}, but {for the price|all in all|on the whole} I {am happy with it|would buy it again|can live with that}.", "{True, |Granted, |Yes, }{w}; {a detail|a small price to pay|I do not care}: {m} {is the best I have owned|does what it should and more|stays}.", "{Small flaws|Minor gripes} ({w}), {still well worth the money|still five stars from me|nothing that spoils the fun}.", "I could {list|name} {a flaw or two|something}, for instance that {w}, {yet|and still} I {recommend it to everyone|would not give it back}.", "Even though {w}, {m} has {won me over|become my favourite}.", "{My only|The only} {gripe|complaint} is that {w}. {Otherwise|Apart from that} it is {perfect|all I could ask for}.", "{M} {is a keeper|was a good buy|gets my recommendation}, {even if|although} {w}.", "If the {f} is all I can complain about, it must be {good|a fine product}. It is.",
)  # fmt: skip
OVERALL_BAD = (
    "{G}, but {that does not save it|that alone is not enough|I sent it back all the same}.", "{True, |Granted, |Yes, }{g}; {sadly that is all|a small comfort|that is the only nice thing I can say}. {M} {goes back|was a mistake|is not worth the money}.", "{One thing|One good point} ({g}), {and still a waste of money|the rest is a disaster|it does not make up for the rest}.", "Even though {g}, I {regret the purchase|would not buy it again|cannot recommend {m}}.", "{The best|The one good thing} I can say is that {g}. {Everything else|The rest} {failed|broke|let me down}.", "{M} {went back to the shop|was money thrown away|does not get my recommendation}, {even if|although} {g}.", "I really wanted to keep it, because {g}. {It was not to be|In the end I could not}: {w2}.", "{G}. {So much for the good news|And that is where the praise ends}: {w2}.",
)  # fmt: skip
# something is missing: a mild blame
WISHES = (
    "{A second {battery|cable}|A proper {case|manual}|A longer {cord|warranty}|A {dimmer|timer|lock|spare part}} would {be|have been} {nice|welcome|helpful}{, too| for that money|}.", "If only it {came with a {case|cable|real manual}|had a {dimmer|timer|lock}|could be {repaired|folded|charged in the car}}.", "I {wish|only wish} {it had|they had added} {a real off switch|a {bigger|brighter} display|a headphone socket|a stand|an on/off light|one more size}.", "{Why is there no|Why didn't they include a|Would it have killed them to include a} {case|cable|manual|spare filter|carrying strap}?", "{Would be nice if|It should really be the case that|It would help if} the {f} {worked|did its job|were better}.", "The {f} {needs work|could use some improvement|should have been thought through|needs a redesign}.", "I {expected|had expected} {more|better} {of|from} the {f}.", "Next time {I hope that|they should see to it that} the {f} is better.",
)  # fmt: skip
# no opinion at all; h: not on software
FACTS = (
    "h:{M} {weighs|comes in at} {nn}0 grams {with|without} the box.", "h:It {comes|is sold} in {black and grey|three colours|two sizes}.", "{M} was {ordered on {day}|bought in {month}|a present for my {son|aunt|colleague}}.", "h:In the box {are|you find} {a cable, a leaflet and a bag|the parts and a leaflet}.", "I use it {on {day}s|at work|for the {garden|office|kids}}.", "It replaces {a {brand} from {year}|the one that I had since {year}}.", "{Does anybody know|Can someone tell me} {whether it works with {a {brand}|a {year} laptop}|where to turn with questions|how long the warranty is}?", "There are {n} pages on the {f} in the manual.",
    "There is a {button|switch|small label} {on the left side|at the back|under the lid} {for the {f}|}.", "The {f} is described on page {nn}{ of the manual|}.", "{My|Our} {sister|neighbour|office} has {the same one|a {brand}}.", "{How do I|Can I} {reset it|update it|connect it to a {brand}}?", "This review is about the {f} {only|and what I use it for}.", "{I compared it|It was compared} with {a {brand}|the version from {year}}; {the numbers are below|see the table}.", "{Version|Release} {n} {came out|is planned} in {month}.", "I {wanted|needed} one {for my trip to {city}|for the office|before {month}}.", "{M} is {meant for|sold to} {beginners|offices|schools|travellers}.",
    "I have {not opened it yet|had it for a day and will write more later|ordered it and will report}.", "The serial number {is {id}|ends in {nn}}, made in {year}.", "{M} is made by {brand} and {sold|shipped} by {shop}.", "I {was looking for|compared} {n} models before I {ordered|chose} one.", "The manual is {nn} pages long and {in {n} languages|printed on thin paper}.", "h:It runs on {two AA cells|mains power|{n} volts}.",
)  # fmt: skip
