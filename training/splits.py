"""Which tasks are trained on. Whole tasks are held out: `UNSEEN` is only reported, `DEV` stops training, fits temperatures."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

# Tasks that share their texts are held out together (airline, prompt attack, GitHub issues).
UNSEEN = (
    "bbc_news",
    "masakhanews_eng",
    "stackoverflow_tags",
    "snips_intent",
    "hwu64",
    "airline_tweet_sentiment",
    "airline_complaint_reason",
    "customer_review_sentiment",
    "movie_review_long_sentiment",
    "email_spam",
    "hate_offensive_neither",
    "forum_hate_speech",
    "isear_emotion",
    "prompt_attack_detection",
    "prompt_attack_type",
    "snli",
    "add_one_rte",
    "commitment_bank",
    "qnli_passage_relevance",
    "arc_easy",
    "social_iqa",
    "mctest",
    "app_review_type",
    "bfcl_function_choice",
    "github_issue_type",
    "github_issue_repo",
    "app_store_stars",
    "mrpc",
)
DEV = (
    "reuters_r8",
    "atis_intent",
    "nlu_eval_corpora",
    "stackoverflow_sentiment",
    "waimai_zh",
    "germeval_offense_de",
    "emot_id",
    "cranfield_relevance",
    "qasc",
    "cosmosqa",
    "mpe_multi_premise",
    "wrete_id",
    "it_ticket_category",
    "metatool_tool_choice",
    "requirement_type",
    "technical_debt_type",
    "subjectivity",
    "disaster_tweets",
    "nsmc_rating_ko",
    "stsb_it",
    "reading_level_onestop",
)
CLEAN = ("MIT", "Apache-2.0", "BSD", "CC0", "CC BY 3.0", "CC BY 4.0", "CC BY-SA", "CC BY-SA 3.0", "CC BY-SA 4.0", "MIT license")
NOT_ENGLISH = (
    "_zh",
    "_ja",
    "_ko",
    "_id",
    "_th",
    "_de",
    "_es",
    "_fr",
    "_it",
    "_nl",
    "_pl",
    "_pt",
    "_ru",
    "_swa",
    "_pcm",
    "_multilingual",
)


@dataclass(frozen=True)
class Task:
    name: str
    group: str
    licence: str

    @property
    def clean(self) -> bool:
        """Whether its stated licence is one of `CLEAN`."""
        return self.licence.removesuffix(" (README)") in CLEAN

    @property
    def english(self) -> bool:
        return not self.name.endswith(NOT_ENGLISH)


def read_tasks(data: Path) -> dict[str, Task]:
    """Every task that SOURCES.tsv names."""
    with (data / "SOURCES.tsv").open(newline="") as f:
        rows = csv.DictReader(f, delimiter="\t")
        return {r["task"]: Task(r["task"], r["group"], r["licence as found there"]) for r in rows}
