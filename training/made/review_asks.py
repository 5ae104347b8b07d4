# ruff: noqa: E501  (a table of wordings)
"""How reviews and messages to companies are asked about: names of verdicts, instructions, criteria, scales."""

from __future__ import annotations

import re

from .ask import Label

MOODS: dict[str, Label] = {
    "positive": (("positive", "The verdict is favourable"), ("good", "glad of it"), ("for_it", "Recommends it on the whole"), ("thumbs_up", "worth it"), ("satisfied", "pleased with it"), ("recommended", "Others should try it too")),
    "negative": (("negative", "The verdict is unfavourable"), ("bad", "sorry to have it"), ("against_it", "Advises against it on the whole"), ("thumbs_down", "not worth it"), ("unsatisfied", "let down by it"), ("not_recommended", "Others should keep away from it")),
    "neutral": (("mixed", "Good and bad in balance"), ("neutral", "Neither for nor against"), ("undecided", "no clear verdict"), ("so-so", "middling"), ("lukewarm", "neither warm nor cold")),
}  # fmt: skip
MESSAGE_MOODS: dict[str, Label] = {
    "positive": (("positive", "Praise or thanks that are meant"), ("happy", "pleased with the company"), ("praise", "says something good"), ("satisfied", "a content customer"), ("approving", "The company did something well")),
    "negative": (("negative", "A complaint, also an ironic one"), ("unhappy", "displeased with the company"), ("complaint", "something went wrong"), ("unsatisfied", "an annoyed customer"), ("critical", "Something about the company annoys the author")),
    "neutral": (("neutral", "A question, request or fact without judgement"), ("none", "no feeling about the company"), ("inquiry", "asks or informs"), ("descriptive", "no opinion stated")),
}  # fmt: skip
POINTS: dict[str, Label] = {
    "positive": (("positive", "Speaks for the product"), ("praise", "Something about it pleases the owner"), ("for_it", "one of its strengths"), ("plus", "a good point")),
    "negative": (("negative", "Speaks against the product"), ("criticism", "Something about it bothers the owner"), ("against_it", "one of its weaknesses"), ("minus", "a bad point")),
    "neutral": (("neutral", "States or asks something without judging"), ("descriptive", "Only describes"), ("no_view", "Neither for nor against, no judgement at all")),
}  # fmt: skip
LEVEL_ASKS = ("Rate the sentiment.", "For or against the product?", "How is the product judged here?")
RECOMMENDS: dict[str, Label] = {
    "yes": (("recommended", "The author would advise it"), ("yes", "It was worth it for the author"), ("satisfied", "The author is content with the choice")),
    "no": (("not_recommended", "The author would advise against it"), ("no", "The author wishes it had been left undone"), ("unsatisfied", "The author is let down")),
}  # fmt: skip
RECOMMEND_ASKS = (
    "Would the writer recommend it to others?",
    "Should others get it, going by this text?",
    "Is the author glad to have chosen it?",
    "Recommended?",
    "Content with the choice?",
)
FEATURE_ASKS = (
    "Does the sentence speak well or ill of the product?",
    "Is this a strong or a weak point of the product?",
    "Judgement on the product in this remark?",
    "How does the owner see this point?",
    "Praise or criticism?",
    "What does the remark say about the quality?",
    "owner's opinion",
)
ASKS = (
    "What is the overall sentiment?", "Is the review positive or negative?", "Verdict of the reviewer?", "sentiment", "Does the author recommend it?", "How does the writer feel about it, all in all?", "Classify the review.",
    "Polarity of the text?", "Which opinion does the text express?", "On balance, what does the reviewer think?",
)  # fmt: skip
YES = (
    "Does the reviewer like it?", "Is the review positive?", "Is the overall verdict favourable?", "Would the author recommend it?", "Was it worth it for the writer?", "Is the sentiment positive?", "Is this a good review?", "The author enjoyed it.", "Would this reviewer come back for more?",
)  # fmt: skip
NO = (
    "Is the review negative?", "Does the author advise against it?", "Is the reviewer disappointed?", "Is this a bad review?", "Is the sentiment negative?", "Did the writer regret it?", "The author disliked it.", "Is the overall verdict unfavourable?",
)  # fmt: skip
POINT = (
    "Is the remark favourable to the product?",
    "Does the owner like this point?",
    "Is something praised here?",
    "A plus for the product?",
    "Does the sentence speak for the product?",
)
NO_POINT = (
    "Is the remark unfavourable to the product?",
    "Does the owner dislike this point?",
    "Is something criticised here?",
    "A minus for the product?",
    "Does the sentence speak against the product?",
)
CRITERIA = (
    ("the verdict as a whole is favourable", "the verdict as a whole is unfavourable"), ("likes it in spite of possible flaws", "dislikes it in spite of possible strengths"), ("positive", "negative"),
)  # fmt: skip
STARS = (
    ("1 star", "2 stars", "3 stars", "4 stars", "5 stars"), ("a disaster", "below par", "middling", "pleasing", "a triumph"), ("would never touch it again", "sorry to have bothered", "lukewarm", "glad of it", "thrilled"),
    ("very negative", "negative", "neutral", "positive", "very positive"),
)  # fmt: skip
THREE = (
    ("negative", "mixed", "positive"),
    ("advises against it", "undecided", "speaks for it"),
    ("let down", "so-so", "content"),
)
FLAWED = re.compile(
    "flaws|not perfect|star off|rough edges|gave up at|nine out|cheaper ones|aults aside|all its faults|slow start|looks nice|starts well|mean well|parts are fine|idea in it|what they tried|Two out of|few good moments|all the effort|promising"
)
"""Verdicts that grant the other side a point: a star less, or more."""
NO_VIEW_THREE = (
    ("negative", "neutral", "positive"),
    ("criticism", "no judgement", "praise"),
    ("speaks against it", "takes no side", "speaks for it"),
)
STAR_ASKS = (
    "Stars that go with this text?",
    "rating",
    "How satisfied is the author?",
    "Rate the sentiment.",
    "Guess the rating.",
)
MESSAGE_ASKS = (
    "How does the customer feel about the company?", "Sentiment of the message?", "Applause, grumbling or plain talk?", "tone towards the company", "What is the sentiment of this post?", "Classify the customer's attitude.",
)  # fmt: skip
COMPLAINT = (
    "Is this a complaint?",
    "Is the customer unhappy with the company?",
    "Is the sentiment negative?",
    "Is the author displeased?",
    "Does the message criticise the company?",
    "complaint",
)
UNHAPPY = COMPLAINT[1:4]
PLEASED = (
    "Is the customer pleased?",
    "Is the sentiment positive?",
    "Is this praise?",
    "Would the company like to quote this?",
    "Does the author praise the company?",
)
PLAIN = (
    "Is this free of any judgement?",
    "Is the message neutral?",
    "Is it merely a question or a statement of fact?",
    "Does the author keep any verdict on the company back?",
)
ASPECTS: dict[str, Label] = {
    "positive": (("praised", "It is praised"), ("positive", "the reviewer likes it")),
    "negative": (("criticised", "It is criticised"), ("negative", "the reviewer dislikes it")),
    "absent": (("not_mentioned", "Nothing is said about it"), ("no_opinion", "it does not come up")),
}
