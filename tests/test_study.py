"""Studies: written after looking at a log, edited by a person, taken by every command that reads a log."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from repbm.cli import main
from repbm.cli._study_options import asked_of
from repbm.core import InputError
from repbm.evaluation import Study
from repbm.logs import propose, read_log
from tests.test_bad_input import GOOD, says, tree
from tests.test_tables import survival

STAYS = pl.DataFrame(
    {
        "patient": ["a", "a", "b", "b"],
        "day": [1, 2, 1, 2],
        "age": [70, 70, 44, 44],
        "drug": ["yes", "no", "no", "yes"],
        "benefit": [0.4, 0.9, 0.1, 0.2],
        "discharged": ["no", "no", "no", "yes"],
    }
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def repbm(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], line: str) -> tuple[int, str]:
    """The exit code of a command, and what it says."""
    monkeypatch.setattr(sys, "argv", ["repbm", *line.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    return int(ended.value.code or 0), said.out + said.err


def test_a_study_reads_a_log_as_it_was_looked_at(monkeypatch, capfd) -> None:
    survival(40).write_csv("survival.csv")
    Path("rules.csv").write_text("ward,treatment\nicu,drug\n*,wait\n")
    code, said = repbm(monkeypatch, capfd, "init survival.csv --policy rule=rules.csv")
    assert code == 0, said
    assert "episode  patient_id  (a usual name for it)" in said
    assert "repbm evaluate repbm.toml --out result" in said
    study = Study.load("repbm.toml")
    assert study.log == "survival.csv"
    assert study.policies == {"rule": "rules.csv"}
    assert (study.outcome.name, study.outcome.better, study.discount) == ("outcome", "more", 1.0)
    read = read_log(study.log, columns=study.reading.columns, ends=study.reading.ends)
    plain = read_log("survival.csv")
    assert read.names == plain.names
    assert (read.observations == plain.observations).all()
    assert read.terminated.all()
    code, said = repbm(monkeypatch, capfd, "doctor repbm.toml --policy column:treatment")
    assert code == 0, said
    assert "40 episodes" in said


def test_what_is_only_guessed_is_said(monkeypatch, capfd) -> None:
    STAYS.write_csv("stays.csv")
    code, said = repbm(monkeypatch, capfd, "init stays.csv")
    assert code == 0, said
    for line in (
        "action   drug  (it often means this)  <- please check",
        "reward   benefit  (it often means this)  <- please check",
        "ends     discharged=yes  (discharged sounds like an end)  <- please check",
        "obs      age  (what is left)",
    ):
        assert line in said
    assert repbm(monkeypatch, capfd, "doctor repbm.toml")[0] == 0


def test_of_deaths_fewer_are_better(monkeypatch, capfd) -> None:
    """A log that tells who died, under names of its own: nothing has to be said, and no policy is better since it
    kills."""
    words = pl.col("outcome").replace_strict({0: "yes", 1: "no"}).alias("died")
    survival(60).with_columns(words).drop("outcome").rename({"patient_id": "pt"}).write_csv("deaths.csv")
    code, said = repbm(monkeypatch, capfd, "init deaths.csv")
    assert code == 0, said
    assert "reward   died  (its name has a word for it)  <- please check" in said
    study = Study.load("repbm.toml")
    assert (study.outcome.better, study.reading.worth) == ("less", {"yes": 1.0, "no": 0.0})
    assert propose(survival().rename({"outcome": "cost"}), {"reward": "cost"}).less
    assert not propose(survival().with_columns(cost=-pl.col("outcome")), {"reward": "cost"}).less
    alive = pl.col("outcome").replace_strict({0: "died", 1: "alive"})
    assert not propose(survival().with_columns(death_status=alive), {"reward": "death_status"}).less


def test_what_nobody_can_guess_is_asked_for_in_one_line(monkeypatch, capfd, tmp_path) -> None:
    STAYS.drop("discharged").write_csv("stays.csv")
    before = tree(tmp_path)
    code, said = repbm(monkeypatch, capfd, "init stays.csv")
    assert code == 2
    says(said.strip().splitlines()[-1], "there is no column 'terminated'", "--ends")
    assert tree(tmp_path) == before
    assert repbm(monkeypatch, capfd, "init stays.csv --ends truncated")[0] == 0
    code, said = repbm(monkeypatch, capfd, "init stays.csv --ends truncated")
    assert code == 2
    says(said.strip(), "repbm.toml: there is such a file", "--out")
    code, said = repbm(monkeypatch, capfd, "init lost.csv")
    assert code == 2
    says(said.strip(), "lost.csv: no such file or folder")


def test_a_log_with_skipped_days_has_a_study_too(monkeypatch, capfd, tmp_path) -> None:
    """What the message asks for can be said."""
    STAYS.with_columns(day=pl.Series([1, 3, 1, 2])).write_csv("stays.csv")
    code, said = repbm(monkeypatch, capfd, "init stays.csv --ends discharged=yes")
    assert code == 2
    says(said.strip().splitlines()[-1], "--gaps allow")
    assert repbm(monkeypatch, capfd, "init stays.csv --ends discharged=yes --gaps allow --missing refuse")[0] == 0
    reading = Study.load("repbm.toml").reading
    assert (reading.gaps, reading.missing) == ("allow", "refuse")
    assert repbm(monkeypatch, capfd, "doctor repbm.toml")[0] == 0


def test_a_policy_that_is_not_there_is_said_before_anything_is_written(monkeypatch, capfd) -> None:
    STAYS.write_csv("stays.csv")
    asked = "init stays.csv --ends discharged=yes --gaps allow --out lost.toml"
    for policy in ("ruels.csv", "mine=ruels.py:act"):
        code, said = repbm(monkeypatch, capfd, f"{asked} --policy {policy}")
        assert code == 2
        says(said.strip(), "ruels", "no such file", "check the path")
        assert not Path("lost.toml").exists()
    assert repbm(monkeypatch, capfd, f"{asked} --policy advice=column:sodium")[0] == 0


def test_reasons(tmp_path) -> None:
    named = propose(GOOD)
    assert named.named_so
    assert named.columns["behavior_prob"].theirs == "behavior_prob"
    assert named.ends.why == "the column terminated says it"
    two = propose(STAYS.with_columns(user=pl.lit("x")))
    assert not two.columns["episode"].sure
    assert "patient" in (two.columns["episode"].theirs or "") + two.columns["episode"].why
    words = propose(STAYS.with_columns(benefit=pl.Series(["died", "survived", "died", "survived"])))
    assert words.worth == {"died": 0.0, "survived": 1.0}
    one = propose(STAYS.drop("patient", "day", "discharged"))
    assert one.ends.why == "every row is an episode"


def test_names_of_any_kind_come_back(monkeypatch, capfd) -> None:
    odd = {"age": "a 'b', \\ c # d \t \U0001f600", "discharged": "Ende #1 = ja"}
    STAYS.rename(odd).write_csv("odd log.csv")
    monkeypatch.setattr(sys, "argv", ["repbm", "init", "odd log.csv", "--ends", "truncated", "--out", "odd.toml"])
    with pytest.raises(SystemExit):
        main()
    study = Study.load("odd.toml")
    assert study.log == "odd log.csv"
    data = read_log(study.log, columns=study.reading.columns, ends=study.reading.ends)
    assert odd["age"] in data.names


def test_options_come_before_the_study_and_files_stand_beside_it(tmp_path) -> None:
    (tmp_path / "study").mkdir()
    STAYS.with_columns(weight=1.0 * pl.col("age")).write_csv("study/stays.csv")
    Path("study/rules.csv").write_text("age,drug\n>50,yes\n*,no\n")
    Path("study/act.py").write_text("def act(row):\n    return 'yes' if row['age'] > 50 else 'no'\n")
    Path("study/s.toml").write_text(
        'log = "stays.csv"\nends = "discharged=yes"\ndiscount = 0.5\n[columns]\naction = "drug"\nreward = "benefit"\n'
        'obs = ["age", "weight"]\n[policies]\nrules = "rules.csv"\nother = "act.py:act"\nsame = "column:drug"\n'
    )
    study = Study.load("study/s.toml")
    assert dict(study.policies) == {
        "rules": "study/rules.csv",
        "other": "study/act.py:act",
        "same": "column:drug",
    }
    asked = asked_of("study/s.toml", ["rules"], ["obs=age"], None, None, None, None, 1.0)
    assert dict(asked.policies) == {"rules": "study/rules.csv"}
    assert (asked.log, asked.discount, asked.reading.ends) == ("study/stays.csv", 1.0, "discharged=yes")
    assert dict(asked.reading.columns) == {"action": "drug", "reward": "benefit", "obs": "age"}
    assert asked_of("study/s.toml", None, None, "truncated", "refuse", "allow", None).reading.ends == "truncated"
    again = study.evaluate("column:drug", estimators=["wis"], details=False)
    assert again.question.discount == 0.5
    assert again.examination.observations == ("age", "weight")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("log = 1", "log = 1 is not of type str"),
        ("discount = 1", "'log' is missing"),
        ('log = "x.csv"\ndiscont = 1', "no key 'discont'; did you mean 'discount'?"),
        ('log = "x.csv"\n[outcome]\nbetter = "most"', "[outcome]: 'most' is not which way is better; say more or less"),
        ('log = "x.csv"\n[outcome]\nunits = "days"', "did you mean 'unit'?"),
        ('log = "x.csv"\n[columns]\nobs = [1]', "[columns]: obs = 1 is not of type str"),
        ('log = "x.csv"\n[columns]\nreward = ["a"]', "[columns]: reward = ['a'] is not of type str"),
        ('log = "x.csv"\n[policies]\na = 3', "[policies]: a = 3"),
        ('log = "x.csv"\n[worth]\nalive = "1"', "[worth]: alive = '1'"),
        ("log = ", "is not TOML that can be read"),
        ('log = "x.csv"', "no policy is given"),
        ('log = "x.csv"\n[policies]\na = "rules.csv"', "rules.csv: no such file"),
    ],
)
def test_a_study_that_is_wrong_is_one_line(text, words, monkeypatch, capfd, tmp_path) -> None:
    Path("s.toml").write_text(text)
    before = tree(tmp_path)
    code, said = repbm(monkeypatch, capfd, "evaluate s.toml --out result")
    assert code == 2
    says(said.strip(), words)
    assert tree(tmp_path) == before


def test_a_study_without_policies_says_so_in_python() -> None:
    with pytest.raises(InputError, match="names no policy"):
        Study("x.csv").evaluate()


def talk(command: list[str], answers: list[tuple[str, str]]) -> tuple[int, str]:
    """Run a program at a real terminal; each answer is typed once the words before it stand there."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    said, place, until = "", 0, time.monotonic() + 300

    def listen() -> bool:
        nonlocal said
        ready, _, _ = select.select([ours], [], [], 1)
        try:
            new = os.read(ours, 4096) if ready else b""
        except OSError:  # the other end is closed
            return False
        said += new.decode()
        return bool(new) or running.poll() is None

    for words, answer in answers:
        while words not in said[place:]:
            assert listen(), said
            assert time.monotonic() < until, said
        place = said.index(words, place) + len(words)
        os.write(ours, answer.encode() + b"\n")
    while listen():
        assert time.monotonic() < until, said
    os.close(ours)
    return running.wait(), said


def test_a_person_at_a_terminal_is_asked() -> None:
    STAYS.with_columns(score=pl.col("benefit")).write_csv("stays.csv")
    command = [sys.executable, "-c", "from repbm.cli import main; main()", "init", "stays.csv"]
    code, said = talk(
        command,
        [
            ("action: what was done", ""),
            ("reward: what followed", "scor"),
            ("did you mean 'score'?\r\nreward: what followed", "score"),
            ("How do episodes end?", "died"),
            ("say terminated or truncated, reward, horizon, or COLUMN=VALUE\r\nHow do", ""),
            ("Is all the rest right?", "n"),
            ("episode: whose", ""),
            ("step: the order", ""),
            ("terminated: whether", ""),
            ("truncated: whether", ""),
            ("behavior_prob: how", ""),
            ("what is known before", "age"),
            ("How do episodes end?", "truncated"),
            ("sum of rewards called", "well-being"),
            ("In what is it counted", "points"),
            ("more or less", "most"),
            ("more or less", "less"),
            ("worth one step later", "0.9"),
        ],
    )
    assert code == 0, said
    study = Study.load("repbm.toml")
    assert (study.outcome.name, study.outcome.unit, study.outcome.better) == ("well-being", "points", "less")
    assert study.reading.columns["reward"] == "score"
    assert study.reading.columns["obs"] == "age"
    assert (study.reading.ends, study.discount) == ("truncated", 0.9)
