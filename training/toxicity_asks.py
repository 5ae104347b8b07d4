# ruff: noqa: E501  (a table of texts, one a line)
"""What `derive_toxicity` asks about a post: policies with actions, clauses, queues, scales, statements and single rules.

None of it is worded as a task that is held out (``training.wordings`` compares them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FIELDS = ("post", "text", "comment", "tweet", "message", "status", "content", "reply", "body", "utterance")
GROUP = (
    "attacks people for what they are", "turns on a whole community because of ancestry, creed, sex or the like", "is hostile to people as members of a protected group", "runs down or threatens a minority, a sex, a nation or a faith", "denies a group its worth or its place among us",
    "goes after people for something they were born with or believe", "shows contempt for a people, a religion, women or another such group",
)  # fmt: skip
COARSE = (
    "is coarse or insulting, with no group as its target", "swears or calls somebody names, and leaves it at that", "is foul-mouthed or nasty to one person", "uses four-letter words or abuses an individual", "is bad manners only: curses, name-calling", "is vulgar or a personal insult",
)  # fmt: skip
PLAIN = (
    "is harmless, whatever it talks about", "gives no cause to step in", "is ordinary talk, news or opinion", "is civil, even where it speaks of groups or quotes abuse to condemn it", "breaks nothing",
)  # fmt: skip
ABUSE = ("insults or threatens somebody in particular", "is nasty to one person", "calls an individual names or wishes them harm")
VULGAR = (
    "holds vulgar words that are meant for nobody",
    "swears at things or for emphasis only",
    "is full of curses, yet no person is their target",
)

Scheme = Mapping[str, tuple[str, Sequence[str]]]
"""For each kind: a name of the option and several descriptions."""
THREE: Sequence[Scheme] = tuple(
    {"hate": (a, GROUP), "rude": (b, COARSE), "fine": (c, PLAIN)}
    for a, b, c in (
        ("take_down", "warn_the_author", "keep"), ("delete_and_suspend", "collapse_behind_a_notice", "leave_up"), ("group_attack", "incivility", "within_the_rules"), ("discrimination", "bad_manners", "nothing_broken"), ("discrimination desk", "civility desk", "no desk"), ("red", "amber", "green"), ("escalate", "nudge", "publish"),
        ("demeans_a_group", "foul_or_insulting", "harmless"), ("S3", "S2", "S1"), ("protected_class_violation", "tone_violation", "no_violation"), ("severe", "mild", "nothing"), ("bigotry", "swearing_or_insults", "ordinary_talk"), ("trust_and_safety", "community_manager", "nobody"), ("ban", "reminder", "no_action"),
        ("dignity clause", "courtesy clause", "no clause"), ("prejudice", "profanity_or_abuse", "unobjectionable"), ("remove", "mask_words", "show"), ("category_1", "category_2", "category_3"),
    )
)  # fmt: skip
FOUR: Sequence[Scheme] = tuple(
    {"hate": (a, GROUP), "insult": (b, ABUSE), "crude": (c, VULGAR), "fine": (d, PLAIN)}
    for a, b, c, d in (
        ("protected-group attack", "personal abuse", "profanity", "nothing against the rules"), ("group_hostility", "harassment_of_a_person", "vulgarity", "passes"), ("rule 1", "rule 2", "rule 3", "no rule"), ("dehumanising_a_group", "name_calling", "cursing", "nothing_to_report"), ("bigotry", "bullying", "swear_words", "ordinary"),
        ("remove_and_report", "remove", "star_out_words", "keep"), ("contempt_for_a_people", "contempt_for_a_person", "dirty_words_only", "harmless_talk"),
    )
)  # fmt: skip
TWO: Sequence[Scheme] = tuple(
    {"hate": (a, GROUP), "other": (b, (
        "does anything else, cursing and personal insults included", "leaves groups alone, however rude it is", "may be crude, sad or about a group, but holds nothing against one",
    ))}
    for a, b in (
        ("remove", "let_through"), ("group_attack", "no_group_attack"), ("breaks_the_rule", "keeps_the_rule"), ("prejudiced", "unprejudiced"), ("violation", "no_violation"), ("escalate", "close_the_report"), ("demeaning_to_a_group", "anything_but_that"), ("against_a_group", "against_none"),
    )
)  # fmt: skip
BAD: Sequence[Scheme] = tuple(
    {"bad": (a, ("swears, insults, threatens or runs a group down", "would hurt or shock readers by its wording", "is rude to whomever, or worse than rude")), "ok": (b, PLAIN)}
    for a, b in (
        ("hold_for_review", "publish"), ("hide", "show"), ("uncivil", "civil"), ("breaks_house_rules", "follows_house_rules"), ("adults_only", "everybody"), ("nasty_or_crude", "decent"), ("report_upheld", "report_rejected"), ("needs_a_moderator", "needs_no_moderator"),
    )
)  # fmt: skip
AIMED: Sequence[Scheme] = tuple(
    {"yes": (a, ("people are attacked, one or a whole group", "somebody bears the brunt of it")), "no": (b, ("no one is attacked; words alone may be crude", "nobody is its target"))}
    for a, b in (("has_a_victim", "has_no_victim"), ("directed", "undirected"), ("against_people", "against_nobody"), ("hurts_people", "hurts_no_one"))
)  # fmt: skip
WHO: Sequence[Scheme] = tuple(
    {"group": (a, ("people of an origin, faith, sex, colour or the like", "everybody who shares a trait")), "person": (b, ("one person, addressed or named", "somebody in particular")), "nobody": (c, ("there is no attack", "neither a person nor a community"))}
    for a, b, c in (("group", "individual", "nobody"), ("a_community", "a_single_person", "no_one"), ("many, for what they are", "one, for what he or she did or is like", "none"), ("collective", "personal", "no_target"))
)  # fmt: skip
TELLING = frozenset(
    """group_attack discrimination demeans_a_group protected_class_violation bigotry prejudice protected-group_attack group_hostility
    dehumanising_a_group contempt_for_a_people prejudiced demeaning_to_a_group against_a_group uncivil nasty_or_crude has_a_victim directed
    against_people hurts_people group a_community collective""".split()  # noqa: SIM905
)
"""Schemes, by their first name, that can be told apart without a description."""
EXTRA = {"advertising": "sells something or links to a shop", "private_data": "gives away addresses, numbers or other personal details", "off_topic": "belongs in another thread", "self_harm": "the author may be in danger from themself"}  # fmt: skip
"""Clauses that none of the posts breaks."""
ACT_ASKS = (
    "What should happen to it?", "What does the moderator do?", "Pick the action that the guidelines ask for.", "Apply the community guidelines.", "moderation_action", "Handle this report.", "A reader reported this. What follows?", "Decide what to do with the post.", "Which outcome fits?",
    "How should the queue dispose of this item?", "Enforcement?", "Cursing alone is no attack on a group. Decide with that in mind.", "Rule on the report.", "Choose what the house rules provide for.", "Where does this item go?",
)  # fmt: skip
CLAUSE_ASKS = (
    "Which clause does it break, if any?", "Under which point of the code of conduct does this come?", "Name the breach.", "Which house rule applies?", "policy_clause", "The worst breach counts. Which is it?", "What would the report be filed under?", "Which violation, if there is one?",
    "Choose the ground for removal, or that there is none.", "What is wrong with it, if something is?",
)  # fmt: skip
HATE_YES = (
    "Are people attacked here because of origin, belief, colour, sex or the like?", "Does the author look down on a whole community?", "Is a minority, a nation, a faith or a sex run down?", "attacks_protected_group", "This attacks people for what they are.", "Does it break a rule that bans attacks on groups and nothing else?",
    "Does the writer want a group shut out, driven off or treated as lesser?", "Is somebody despised for belonging to a group?", "Would members of some group be denied respect by this?", "Does it treat a kind of people as less than human, as a danger or as a burden?", "Is it bigoted?", "Does the sentence blame or mock a people as such?",
    "prejudice against a group", "Must this go where attacks on ethnic, religious or sexual groups are banned, and swearing is not?", "Does it say or imply that a group is inferior?", "Is ill will towards a group expressed, with or without bad words?", "A group is vilified.", "Does the remark discriminate?", "Is it racist, sexist, homophobic or the like?",
    "Would an anti-discrimination policy be violated by this?", "Is the author's contempt meant for a people rather than a person?",
)  # fmt: skip
HATE_NO = (
    "Does it leave every group in peace, however rude it is?", "May it stay under a rule that bans only attacks on groups?", "No community is run down here.", "Is it free of ill will towards any people, faith or sex?", "Could an anti-discrimination policy let this pass?", "Is there no bigotry in it?",
)  # fmt: skip
HATE_CRITERIA = (
    ("people are attacked for a trait they share", "groups may be mentioned, quoted or defended, or words be foul, but none is attacked"), ("it runs a community down or wants it gone", "it does no such thing, even when crude"), ("ill will towards people of some origin, belief, sex or the like", "no such ill will; personal insults do not count"),
    ("a breach of the rule on protected groups", "no breach of that rule, whatever other rules say"), ("bigoted", "free of bigotry, though perhaps vulgar"),
)  # fmt: skip
BAD_YES = (
    "Is there anything rude in it, or worse?", "Does it hold curses, insults or attacks?", "Would a polite forum turn this down?", "Would you hide it from children?", "uncivil", "Does the wording break the courtesy rule?", "Is somebody insulted, or the language foul?", "Should it wait for a moderator?", "The author is being nasty or vulgar.", "Would a newspaper cut this from its letters page?",
    "Does it fall short of polite conversation?", "needs_review", "Is it unfit for a family page?", "Does its wording hurt or shock?",
)  # fmt: skip
BAD_NO = (
    "Is the wording decent throughout?", "Could this be read out in class?", "Is it polite enough to be published?", "May it stay on a board where swearing and insults are banned?", "Does it keep to good manners?",
)  # fmt: skip
BAD_CRITERIA = (
    ("curses, insults, threats or attacks on a group", "none of these"), ("ill-mannered or worse", "well-mannered"), ("against the rules of a polite board", "within them"), ("a moderator has to step in", "nobody has to step in"),
)  # fmt: skip
RUDE_YES = (
    "Is it bad manners only, with no group under attack?", "Coarse or insulting, yet no community is run down: is that so?", "Is a warning enough, as it is foul but not bigoted?", "Does it break the courtesy rule and no other?", "rude_but_not_bigoted", "Is it vulgar or abusive without turning on a people, faith or sex?", "Would masking the words or a word with the author do, since no group is attacked?", "Just swearing or name-calling, nothing against a group?",
)  # fmt: skip
RUDE_CRITERIA = (
    ("rude, vulgar or insulting, and that is all", "either civil, or an attack on a group"), ("only the courtesy rule is broken", "no rule is broken, or the one on protected groups"), ("foul words or name-calling without bigotry", "something better or something worse than that"),
)  # fmt: skip
AIM_ASKS = (
    "Who is attacked, if anybody?", "At whom is the abuse aimed?", "Whom would this hurt?", "victim", "Who is the victim?", "Does it go against one, many or no one?", "Who would have reason to complain?", "Whom does the author turn against?", "Who is harmed by the words?",
)  # fmt: skip
AIMED_ASKS = (
    "Is anyone on the receiving end?",
    "Does the post go against people?",
    "Aimed at people, or at nobody?",
    "has_target",
    "Is there a victim?",
)
LEVEL_ASKS = (
    "How far does it go?", "How strictly must a moderator act?", "Severity of the breach", "Rate it on the moderation ladder.", "breach_level", "How serious is the report?", "Grade the breach of the guidelines.", "How much harm do the words do?", "From nothing to grave: where is this?", "How bad is it?",
)  # fmt: skip
SCALES = (
    ("nothing to do", "a reminder of good manners", "removal, for an attack on a group"), ("civil", "ill-mannered: curses or insults", "bigoted: a group is attacked"), ("no breach", "breach of courtesy", "breach of the rule on protected groups"), ("fit for print", "coarse, nobody attacked for what they are", "people attacked for what they are"),
    ("level 0: ordinary talk", "level 1: foul words or name-calling", "level 2: contempt for a group"), ("let it stand", "hide it behind a notice", "delete it as bigotry"), ("no harm", "hurts manners or one person's feelings", "hurts a whole community"), ("unobjectionable", "crude or abusive", "discriminating"),
)  # fmt: skip
LONG_SCALES = (
    ("nothing objectionable", "vulgar words, nobody attacked", "somebody insulted or threatened", "a group run down"), ("civil", "coarse", "abusive to a person", "bigoted"), ("no breach", "swear words", "abuse of a person", "attack on people for what they are"), ("polite or matter-of-fact", "foul-mouthed", "name-calling or threats", "contempt for a people, faith or sex"),
    ("keep", "star out the words", "remove and warn", "remove and suspend: a group is attacked"), ("harmless", "dirty words", "bullying", "bigotry"),
)  # fmt: skip
LONG_ASKS = (*LEVEL_ASKS[:8], "How grave is the breach, from words to people to whole groups?")
# a rule that bans one thing only, whether it is broken, whether the post may stay
CLAUSES: Mapping[str, Sequence[str]] = {
    "hate": ("attacks on groups of people", "contempt for people because of origin, belief, sex or disability", "bigotry, be it politely worded", "texts that run a people or a faith down"),
    "insult": ("abuse of single persons", "name-calling and threats", "insulting other people in person", "bullying anybody"),
    "crude": ("swear words", "four-letter words, whoever is meant", "cursing", "vulgar vocabulary"),
}  # fmt: skip
BROKEN = ("Our only rule: no {c}. Is it broken?", "Banned here: {c}. Nothing else is. Does this have to go?", "Does the post fall under \"{c}\"?", "Is this a case of {c}?", "The page forbids {c}. Does the author do it?", "Check one clause only: {c}. Violated?")  # fmt: skip
KEPT = ("Forbidden: {c}, and nothing else. May this stay?", "The one thing that is banned is {c}. Is the post allowed?", "Does it keep clear of {c}?")  # fmt: skip
AGREE = ("Do you agree? \"This {c}.\"", "Statement: the post {c}.", "\"The author's text {c}.\" True to the post?", "A reader says that it {c}. Is the reader right?")  # fmt: skip
AGREE_LABELS = (
    ("agree", "disagree"),
    ("right", "wrong"),
    ("correct", "incorrect"),
    ("holds", "does not hold"),
    ("upheld", "dismissed"),
)
TAILS = (
    "!!", " lol", " smh", " \U0001f602", " \U0001f644", " #facts", " #monday", " https://t.co/x", "...", " &amp; that is it", " tbh", " fr",
)  # fmt: skip
