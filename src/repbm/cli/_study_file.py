"""The text of a study, with a reason beside every line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repbm.logs import Proposal

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
MEANINGS = {
    "episode": "whose decision it is: rows of one patient, stay, customer belong together",
    "step": "the order of rows within an episode",
    "action": "what was done",
    "reward": "what followed; the sum over an episode is its outcome",
    "terminated": "whether the world ended the episode there",
    "truncated": "whether only the log stops there",
    "behavior_prob": "how probable the logged action was, if somebody wrote it down",
}
"""What each of our columns is, for people who see it for the first time."""


@dataclass(frozen=True)
class Answers:
    """How a log is read, and what is asked of it, as a person confirmed it."""

    columns: Mapping[str, str | None]
    why: Mapping[str, str]
    """Why each was thought to be what it is."""
    observations: tuple[str, ...]
    named_so: bool
    """Whether observations are found by their names, obs_*."""
    ends: str | None
    worth: Mapping[str, float]
    policies: Mapping[str, str]
    outcome: Mapping[str, str] = field(default_factory=lambda: {"name": "", "unit": "", "better": "more"})
    discount: float = 1.0
    missing: str = "impute"
    gaps: str = "refuse"

    @classmethod
    def of(
        cls,
        proposal: Proposal,
        worth: Mapping[str, float],
        policies: Mapping[str, str],
        missing: str | None = None,
        gaps: str | None = None,
    ) -> Answers:
        """All that is proposed; a reward called "reward" tells no name of the outcome."""
        reward = proposal.columns["reward"].theirs or ""
        return cls(
            {ours: guess.theirs for ours, guess in proposal.columns.items()},
            {guess.ours: guess.why for guess in (*proposal.columns.values(), proposal.ends)},
            proposal.observations,
            proposal.named_so,
            proposal.ends.theirs,
            {**proposal.worth, **worth},
            policies,
            {
                "name": "" if reward == "reward" else reward,
                "unit": "",
                "better": "less" if proposal.less else "more",
            },
            missing=missing or "impute",
            gaps=gaps or "refuse",
        )

    @property
    def reading_columns(self) -> dict[str, str]:
        """As `read_log` takes them."""
        single = {ours: theirs for ours, theirs in self.columns.items() if theirs}
        if self.columns["episode"] is None:
            single["episode"] = ""
        if self.named_so:
            return single
        return single | {f"obs_{name.removeprefix('obs_')}": name for name in self.observations}


def study_text(log: str, name: str, answers: Answers, policies: Mapping[str, str]) -> str:
    """A TOML file that a person can read and edit."""
    lines = [
        "# How repbm reads this log, and what it is asked. Change what is wrong. Then:",
        f"#     repbm doctor {name}",
        f"#     repbm evaluate {name}{'' if policies else ' --policy YOURS'} --out result",
        "",
        _line("log", _quoted(log), "seen from this file"),
        _line("discount", f"{answers.discount:g}", "what a reward is worth one step later"),
        "# horizon = 10  # cut every episode after so many steps",
        "",
        "# How episodes end, if no column `terminated` says it: terminated or truncated (all of them), reward",
        "# (the world ended those whose last reward is not 0), horizon (all but the longest), or COLUMN=VALUE, as in",
        "# died=yes.",
        _line("ends", _quoted(answers.ends or ""), answers.why["ends"]),
        _line("missing", _quoted(answers.missing), "missing observations: impute or refuse"),
        _line("gaps", _quoted(answers.gaps), "skipped steps: refuse or allow"),
        "",
        "[columns]  # ours = yours",
    ]
    for ours, theirs in answers.columns.items():
        if theirs or ours == "episode":
            lines.append(_line(ours, _quoted(theirs or ""), f"{MEANINGS[ours]} ({answers.why[ours]})"))
        else:
            lines.append(f'# {ours} = "..."  # {MEANINGS[ours]}')
    if answers.named_so:
        lines.append("# obs = [...]  # what is known before a decision; here all that is named obs_*")
    else:
        lines += ["obs = [  # what is known before a decision"]
        lines += [f"    {_quoted(column)}," for column in answers.observations]
        lines += ["]"]
    if answers.worth:
        lines += ["", "[worth]  # what a word in the column of rewards is worth"]
        lines += [f"{_key(word)} = {number:g}" for word, number in answers.worth.items()]
    told = answers.outcome
    lines += [
        "",
        "[outcome]",
        _line("name", _quoted(told["name"]), "what the sum of rewards is called, such as survival"),
        _line("unit", _quoted(told["unit"]), "in what it is counted, such as days"),
        _line("better", _quoted(told["better"]), "more or less"),
        "",
        "[policies]  # name = what --policy takes: a decision table (FILE.csv), FILE.py:FUNCTION, ...",
        *(f"{_key(policy)} = {_quoted(words)}" for policy, words in policies.items()),
        *([] if policies else ['# rules = "rules.csv"']),
    ]
    return "\n".join(lines) + "\n"


def _line(key: str, content: str, why: str) -> str:
    return f"{key} = {content}  # {' '.join(why.split())}"


def _key(word: str) -> str:
    return word if _BARE.fullmatch(word) else _quoted(word)


def _quoted(text: str) -> str:
    """A string of TOML."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(_escaped, plain) + '"'


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
