# ruff: noqa: E501  (a table of texts, one a line)
"""Long reviews that mostly tell: what happens in a film, book or game, as grim or glad as it may be, says nothing of the verdict.

{h} is the hero ({she}, {her} name, it hit {obj}), {k} another person, {t} the title, {x} "the film", {see} "watch". ``s:`` stands
before what fits a screen or stage alone.
"""

from __future__ import annotations

# kind -> (what it is called, to take it in, its maker, who takes it in)
WORKS: dict[str, tuple[str, str, str, str]] = {
    "film": ("the film|the movie|this picture", "watch|see", "director|script writer", "viewer"),
    "series": ("the series|the show|the new season", "watch", "show runner|writer", "viewer"),
    "book": ("the book|the novel|this volume", "read", "author|novelist", "reader"),
    "game": ("the game|this adventure|the sequel", "play", "studio|lead designer", "player"),
    "play": ("the play|the musical|the evening", "see|watch", "director|composer", "listener"),
}
TITLES = "{The|A} {Last|Silent|Red|Broken|Winter|Second|Golden|Lost|Quiet|Burning} {Harbour|Orchard|Letter|Daughter|Bridge|Choir|Frontier|Season|Lantern|Promise}|{Nights|Days|Children|Sons|Birds} of {{city}|Glass|Thunder|Salt|the North|Ash}|{No|One} {Road|Way|Word|Door} {Home|Back|Too Many|Left}"
OPENINGS = (
    "{t} is {full}'s {first|second|third|latest} work, made in {year}.", "I {came to|picked} {t} because {a friend|my sister|a colleague} {would not stop talking about it|had a spare copy}.", "Where to begin with {t}?", "There are spoilers below, so stop here if you {have not finished it|mind}.", "{t} has been on my list since {year}.", "The story of {t} is quickly told.", "{Some context|A word on the background}: {t} goes back to {a true case from {year}|a short story|a radio play}.", "When {t} came out in {year}, {everybody talked about it|hardly anybody noticed}.",
    "Last {day} we finally {got around|came} to {t}.", "I had no idea what to expect when I {began|started} {t}.",
)  # fmt: skip
# a plot in steps, grim or glad; one of each step is taken in this order
GRIM: tuple[tuple[str, ...], ...] = (
    ("{h} is {a nurse|a miner|a prison guard|an orphan|a failed boxer} in {a dying town|a city under siege|{city} in the war|a camp at the border}.", "It opens with a funeral: {h} has lost {a child|both parents|the only friend {she} had}.", "{h} wakes up in a {cell|hospital|burning house} and does not know why.", "A plague has emptied the valley, and {h} digs the graves.", "{h} drinks, {k} lies, and the house they share rots around them."),
    ("Then {k} is {murdered|betrayed|taken away at night|found in the river}.", "Soon {hunger|madness|the enemy|an old debt} comes to the door.", "{k} beats {obj}, humiliates {obj}, and nobody helps.", "{h} kills a man, half by accident, and buries {her} guilt with him.", "The war takes {her} brothers one after the other.", "A letter tells {obj} that nobody is coming to help."),
    ("There is torture, there is betrayal, there is a scene with a {dog|well|rope} that I will not describe.", "Every hope is crushed: the {train|ship|doctor} never comes.", "{k}, sick with hatred, sets fire to {the church|the school|their own farm}.", "By the middle half of the village is dead.", "{h} begs on the streets of {city} and is spat at."),
    ("In the end {h} {dies alone|goes to the gallows|walks into the sea|is left with nothing}.", "The last we see is {h}, {crying|bleeding|silent}, in an empty room.", "No one is saved, and nobody is sorry.", "It closes as it began, with a funeral in the rain."),
)  # fmt: skip
GLAD: tuple[tuple[str, ...], ...] = (
    ("{h} {runs a bakery|keeps bees|teaches dancing|repairs bicycles} in {a sunny village|a little street in {city}|a town by the sea}.", "It opens with a wedding at which {h} plays the fiddle.", "{h} wins {a boat|an old hotel|a goat} in a lottery.", "Summer holidays: {h}, {n} years old, gets {a puppy|a treehouse|a map}."),
    ("Then {k} moves in next door, {with a parrot|with {n} children|and cannot cook}.", "{h} and {k} fall in love {over a broken {bus|piano}|on a picnic}.", "A travelling circus comes to town and everybody helps to put up the tent.", "{k}, the happiest person one can imagine, teaches {obj} to {swim|sing|laugh again}.", "They find a {treasure|cheerful ghost|talking cat} in the attic."),
    ("There is a race, a cake of {n} floors, and a dance in the rain.", "Old enemies make up, children cheer, the mayor jumps into the fountain.", "The whole street saves the {library|cinema|school} with a concert.", "Friendship and good humour carry them over every hill."),
    ("In the end there is {a double wedding|a feast under the trees|a medal for {h}}.", "Everyone gets what they wished for, even the grumpy {neighbour|uncle}.", "The last we see is {h} and {k}, laughing, on a {ferry|hay cart|balcony}.", "It closes with a song and a sunrise."),
)  # fmt: skip
THREADS = (
    "{Side by side with this|In between}, {a second story is told, that of {h}|we follow {h}}.",
    "Every other chapter belongs to {h}.",
    "And then there is {h}, whose path crosses theirs {near the end|only once}.",
    "The other half is about {h}.",
    "{Years|Ten years} earlier, {h} had {left the same house|known the same street}.",
)
# what the verdict rests on
CRAFT_GOOD = (
    "{It could have been unbearable|In other hands this would be kitsch}, but the {maker} {never takes the easy way|trusts the {viewer}|finds the right tone every time}.", "I have rarely cared so much for {somebody who does not exist|a handful of strangers}.", "s:{full} as {h} is a {revelation|wonder}: one look {is enough|says it all}.", "Every detail {has a purpose|comes back when you have forgotten it}, and the last {part|stretch|third} pulls it all together.", "The humour is dry, {the pacing is spot on|nothing is explained twice}.", "What stays is {the silence after it|a lump in the throat|the voice of {h}}. {I was speechless|I sat there for a long time}.", "It is slow, {and I mean that as praise|but never once was I bored}.", "s:It looks {stunning|like nothing I have seen}, {yet it never shows off|and sounds even better}.", "I {did not want|could not bring myself} to leave that world.", "{Even|The} minor characters have {a life of their own|secrets}.", "It respects your {intelligence|time}, which is rare.",
    "The {maker} has learned from every mistake of their last work.",
)  # fmt: skip
CRAFT_BAD = (
    "{On paper it sounds moving|It could have been touching}, but the {maker} {underlines everything three times|never gets beyond the obvious|does not trust the {viewer}}.", "I did not care for a single one of {these people|them}.", "s:{full} as {h} {has one face for everything|is lost|acts as if paid by the word}.", "Half of the details {lead nowhere|are forgotten again}, and the last {part|stretch|third} {makes no sense|feels rushed}.", "The jokes {are older than I am|land with a thud}, {the pacing is off|everything is explained twice}.", "What stays is {nothing|the relief that it is over|a headache}. {I had forgotten it by the next day|I felt nothing}.", "It is slow, {and not in a good way|and then it stops altogether}.", "s:It looks {cheap|like an advert}, {and sounds worse|and thinks it is art}.", "I {skipped|would have skipped} whole stretches and missed nothing.", "The minor characters are {there to be in the way|cut from cardboard}.", "It takes you for {a fool|an idiot}.",
    "The {maker} repeats every mistake of their last work, with a bigger budget.",
)  # fmt: skip
# praise for something else, or by others; blame likewise: neither is the verdict
BY_OTHERS_GOOD = ("{The critics|The posters} call it {a triumph|the best of the year|unforgettable}.", "s:{full} {was wonderful|was a delight} in {the earlier one|other roles}.", "The {maker}'s first work is one of my favourites.", "{My sister|My neighbour} {adored it|loved every minute}.", "It won {n} prizes, I am told.", "{Other people|Friends of mine} {cheered|laughed a lot|cried with joy}.", "s:{full} does {all one can|the best} with the part.", "There is one lovely {scene|moment} {on a bridge|in a kitchen|with an old song}.")  # fmt: skip
BY_OTHERS_BAD = ("{The critics|The papers} {tore it to pieces|call it dull|hated it}.", "s:{full} {was dreadful|was a bore} in {the earlier one|other roles}.", "The {maker}'s first work was a disaster.", "{My sister|My neighbour} {gave up on it|could not stand it}.", "It flopped, I am told.", "{My brother was bored|A friend of mine fell asleep over it}.", "The {first part|subplot with the {uncle|priest|robot}} is {a bit long|not needed}.", "There is one clumsy {scene|moment} {on a bridge|in a kitchen|with an old song}.")  # fmt: skip
VERDICT_GOOD = (
    "{t} is {p}.", "{See|Try|Do not miss} {t}.", "I {would|will} {see} it again {tomorrow|with my mother|next year}.", "{If you {see} one thing this {year|month}, make it {t}|A must|One for the shelf}.", "{Go in blind|Bring tissues} and {thank me later|enjoy}.", "I have {nothing to add but: bravo|not been this moved in years}.", "{Grim as it is|Whatever the story|Light or heavy}, {x} {is a pleasure from start to finish|deserves your time}.", "{Four and a half|Five|Nine of ten} stars, {the rest for the title|and I am stingy}.", "{Forget the plot|Do not let the plot scare you off}; {x} is {p}.", "I am {so glad|happy} that I {gave it a chance|did not listen to the critics}.", "{Rarely|Seldom} has {an evening|my time} been spent better.",
)  # fmt: skip
VERDICT_BAD = (
    "{t} is {b}.", "{Skip|Avoid|Spare yourself} {t}.", "I would not {see} it again {for money|if it were the last one on earth}.", "{If you {see} one thing this {year|month}, let it be something else|One for the bin|A miss}.", "{Do the dishes|Take a walk} instead and {thank me later|be happy}.", "I have {nothing to add but: why|not been this bored in years}.", "{Sweet as it sounds|Whatever the story|Light or heavy}, {x} {is a chore from start to finish|is not worth your time}.", "{One star|One and a half stars|Two of ten}, {half of it for the title|and I am generous}.", "{Forget the premise|Do not fall for the premise}; {x} is {b}.", "I am {so sorry|angry} that I {gave it a chance|listened to the critics}.", "{Rarely|Seldom} has {an evening|my time} been wasted so thoroughly.",
)  # fmt: skip
TALK = (
    "The {book|original|first version} {is set in {city}|ends otherwise}, by the way.", "s:It takes {two|three} hours and {n} minutes, with a break.", "s:The music is by {full}.", "s:{h} is played by {full}, {k} by {full}.", "I {came to it|began} on a {day}, with {n} friends.", "s:{full}, who also {wrote|produced} it, has a small part as {a priest|a cook|the judge}.", "It was made {in {city}|for little money|over {n} years}.", "The {third|fourth} part is {set at sea|told in letters|told backwards}.", "It is told {backwards in parts|from three points of view|in one long night}.", "I know {city} well, where most of it takes place.", "It is the {second|third|fifth} part, but you need not know the others.", "I will not give away who {writes|finds|hides} the letter.", "The cover shows a {bridge|hand|bird}, which I understood only later.", "My {sister|brother|neighbour} and I talked about the ending for {an hour|the whole way home}.", "There was a remake in {year}.", "The title refers to {a song|a line in a letter|the name of a ship}.",
)  # fmt: skip
