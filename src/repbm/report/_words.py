"""The words of the report: all in one file, so that it can be translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from repbm.core import all_words
from repbm.doctor import Examination, Finding


@dataclass(frozen=True)
class Words:
    """The words of the report."""

    estimators: Mapping[str, str]
    assumptions: tuple[str, ...]
    page: Mapping[str, Any]
    script: Mapping[str, str]

    @classmethod
    def read(cls) -> Words:
        found = all_words()
        return cls(found["estimators"], tuple(found["assumptions"]), found["page"], found["script"])

    def meaning(self, family: str, softened: bool) -> str:
        """What an estimator does, in one sentence; empty for one of the user's own."""
        said = self.estimators.get(family, "")
        return self.estimators["softened"].format(meaning=said) if softened and said else said

    def say(self, key: str, section: str = "page", **given: Any) -> Markup:
        """A sentence of the page, or of another section; what is put into it is text, never tags."""
        return Markup(all_words()[section][key]).format(**given)

    def plain(self, key: str, **given: Any) -> str:
        """The same as text, for where no tags are."""
        return self.page[key].format(**given)

    def finding(self, found: Finding) -> str:
        """What the doctor found, and how much it matters."""
        return self.plain("finding", severity=self.plain(found.severity), line=found.line)


def weighty_lines(found: Examination) -> list[str]:
    """What is to be looked at before an answer is believed."""
    words = Words.read()
    return [words.finding(finding) for finding in found.weighty]
