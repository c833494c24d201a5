"""Tables as people have them: text, flags, dates, missing values, other names, other ends."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from repbm.core import EncodingRules, InputError
from repbm.data import Encoding, Kind, Trajectories
from repbm.doctor import examine
from repbm.evaluation import Evaluation, Reading, evaluate
from repbm.logs import read_individuals, read_log
from tests.test_bad_input import GOOD, Program, put, says


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, monkeypatch, capfd)


def survival(patients: int = 120, seed: int = 0) -> pl.DataFrame:
    """A log as it is exported: names of its own, text, gaps, the outcome in last rows alone."""
    random = np.random.default_rng(seed)
    rows = []
    for patient in range(patients):
        age, sex = int(random.integers(20, 90)), str(random.choice(["M", "F"]))
        ward, days = str(random.choice(["icu", "surgery", "medicine"])), int(random.integers(1, 4))
        for day in range(1, days + 1):
            lactate = round(float(random.normal(2, 0.5)), 1)
            treated = random.random() < 0.5
            rows.append(
                {
                    "patient_id": f"P{patient:03d}",
                    "day": day,
                    "age": age,
                    "lactate": None if random.random() < 0.2 else lactate,
                    "sex": sex,
                    "ward": ward,
                    "treatment": "drug" if treated else "wait",
                    "outcome": int(random.random() < 0.4 + 0.3 * treated) if day == days else None,
                }
            )
    return pl.DataFrame(rows)


def encoding(data: Trajectories) -> Encoding:
    assert data.encoding is not None
    return data.encoding


def observed(column: str, *values: Any, **options: Any) -> Trajectories:
    return read_log(put(f"obs_{column}", *values), **options)


def test_a_survival_log_goes_through_unprepared(program: Program) -> None:
    log = program.store(survival(), "survival.csv")
    rules = program.write("rules.csv", "ward,lactate,treatment\nicu,*,drug\n*,missing,drug\n*,>2,drug\n*,*,wait\n")
    code, printed, notes = program.run(log, "--policy", f"rule={rules}", "--out", program.out)
    assert code == 0, notes
    assert "corrected" in printed
    for words in (
        "patient_id as episode; day as step; treatment as action; outcome as reward",
        "age, lactate, sex, ward as observations",
        "every episode is taken to end with its outcome",
        "outcome stands in last rows alone: 0 in the others",
        "lactate is missing in",
    ):
        assert words in notes
    stored = json.loads((program.out / "run.json").read_text())
    assert stored["rules"]["rule"].startswith("ward,lactate,treatment\nicu,*,drug")
    assert [note for note in stored["notes"] if note not in notes] == []
    assert Encoding.of(stored["reading"]).names == tuple(pl.read_csv(program.out / "episodes.csv").columns[2:])
    names = ["age", "lactate", "lactate missing", "sex=M", "ward=icu", "ward=medicine", "ward=surgery"]
    assert list(Encoding.of(stored["reading"]).names) == names
    assert Evaluation.load(program.out).examination.observations == tuple(names)


def test_numeric_logs_are_taken_as_they_are() -> None:
    data = read_log(GOOD)
    assert encoding(data).plain
    assert encoding(data).names == data.observation_names == ("age",)
    assert encoding(data).notes == ()
    assert data.observations[:, 0].tolist() == GOOD["obs_age"].to_list()


def test_categories_are_one_column_each() -> None:
    data = observed("ward", "icu", "ed", "gp", "icu")
    assert data.observation_names == ("age", "ward=ed", "ward=gp", "ward=icu")
    assert data.observations[:, 1:].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert encoding(data).decoded(data.observations)["ward"].tolist() == ["icu", "ed", "gp", "icu"]


def test_two_categories_are_one_column() -> None:
    data = observed("sex", "M", "F", "F", "M")
    assert data.observation_names == ("age", "sex=M")
    assert data.observations[:, 1].tolist() == [1, 0, 0, 1]
    assert encoding(data).decoded(data.observations)["sex"].tolist() == ["M", "F", "F", "M"]


def test_missing_categories() -> None:
    data = observed("sex", "M", None, "NA", "F")
    assert data.observation_names == ("age", "sex=M", "sex missing")
    assert data.observations[:, 1:].tolist() == [[1, 0], [0, 1], [0, 1], [0, 0]]
    assert encoding(data).decoded(data.observations)["sex"].tolist() == ["M", None, None, "F"]


def test_rare_categories_are_put_together() -> None:
    log = pl.concat([GOOD.with_columns(pl.col("episode") + 2 * k) for k in range(150)])
    ward = ["icu", "gp"] * 299 + ["hospice", "spa"]
    data = read_log(log.with_columns(obs_ward=pl.Series(ward)))
    assert data.observation_names == ("age", "ward=gp", "ward=icu", "ward=other")
    assert data.observations[-2:, 1:].tolist() == [[0, 0, 1], [0, 0, 1]]
    assert encoding(data).notes == ("rare in obs_ward, put into 'ward=other': hospice, spa",)
    kept = read_log(log.with_columns(obs_ward=pl.Series(ward)), rules=EncodingRules(rare_rows=1))
    assert "ward=spa" in kept.observation_names


def test_ordered_categories_are_numbers_in_their_order() -> None:
    pain = pl.Series("obs_pain", ["none", "severe", "mild", None], pl.Enum(["none", "mild", "severe"]))
    data = read_log(GOOD.with_columns(pain))
    assert data.observation_names == ("age", "pain", "pain missing")
    assert data.observations[:, 1].tolist() == [0, 2, 1, 1]
    assert encoding(data).decoded(data.observations)["pain"].tolist() == ["none", "severe", "mild", None]


@pytest.mark.parametrize("values", [(True, False, None, True), ("TRUE", "false", "", "True")])
def test_flags(values: tuple[Any, ...]) -> None:
    data = observed("smoker", *values)
    assert data.observation_names == ("age", "smoker", "smoker missing")
    assert encoding(data).decoded(data.observations)["smoker"].tolist() == [True, False, None, True]


@pytest.mark.parametrize("word", ["", "NA", "n/a", "null", ".", "NaN", "none", "-", "?"])
def test_words_for_missing_numbers(program: Program, word: str) -> None:
    log = program.write("log.csv", GOOD.write_csv().replace("0.7", word))
    data = read_log(log)
    assert data.observation_names == ("age", "age missing")
    np.testing.assert_allclose(data.observations, [[0.5, 0], [0.6, 0], [0.6, 1], [0.8, 0]])
    np.testing.assert_array_equal(encoding(data).decoded(data.observations)["age"], [0.5, 0.6, np.nan, 0.8])


def test_missing_values_may_be_refused(program: Program) -> None:
    log = program.write("log.csv", GOOD.write_csv().replace("0.7", "NA"))
    policy = f"{program.write('policy.py', 'def zeros(x): return [0] * len(x)')}:zeros"
    says(program.refuses(log, "--missing", "refuse", policy=policy), "row 3", "'obs_age' is empty", "--missing impute")
    says(program.refuses(log, "--missing", "ignore"), "--missing ignore", "impute or refuse")


def test_dates_that_stay_are_days_since_the_first() -> None:
    data = observed("admitted", *("2020-01-11", "2020-01-11", "2020-01-01", "2020-01-01"))
    assert data.observation_names == ("age", "admitted (days since 2020-01-01)")
    assert data.observations[:, 1].tolist() == [10, 10, 0, 0]
    decoded = encoding(data).decoded(data.observations)["admitted"].tolist()
    assert decoded[0] == datetime(2020, 1, 11)


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%S", None])
def test_times_that_pass_are_days_since_the_episode_began(form: str | None) -> None:
    times = [datetime(2020, 1, 1), datetime(2020, 1, 2, 12), datetime(2021, 1, 1), datetime(2021, 1, 2)]
    data = observed("seen", *[time if form is None else time.strftime(form) for time in times])
    assert data.observation_names == ("age", "seen (days)")
    assert data.observations[:, 1].tolist() == [0, 1.5, 0, 1]


def test_closing_rows_and_next_observations_are_coded_alike() -> None:
    log = put("obs_ward", "icu", "ed", "gp", "icu").with_columns(next_obs_age=0.1, next_obs_ward=pl.lit("gp"))
    assert read_log(log).final_observations.tolist() == [[0.1, 0, 1, 0]] * 2
    closing = pl.DataFrame({"episode": [1], "step": [2], "obs_age": [0.3], "obs_ward": ["ed"]})
    closed = read_log(pl.concat([put("obs_ward", "icu", "ed", "gp", "icu"), closing], how="diagonal"))
    assert closed.final_observations[0].tolist() == [0.3, 1, 0, 0]
    assert np.isnan(closed.final_observations[1]).all()


def test_remarks_are_no_categories() -> None:
    log = survival().with_columns(remark=pl.Series([f"text {k}" for k in range(len(survival()))]))
    data = read_log(log)
    assert "left out, since empty or another text in every row: remark" in encoding(data).notes
    with pytest.raises(InputError, match=r"'remark' holds .* different texts"):
        read_log(log, columns={"obs": "age,remark"})


def test_what_is_known_later_is_left_out() -> None:
    data = read_log(survival().with_columns(died=pl.lit("no"), hospital_id=3))
    assert data.observation_names[0] == "age"
    assert not [name for name in data.observation_names if "died" in name or "hospital" in name]
    assert any("left out" in note and "died, hospital_id" in note for note in encoding(data).notes)


# Ends.


@pytest.mark.parametrize(
    ("ends", "column", "expected"),
    [
        ("died=yes", ("no", "Yes", "no", "no"), [True, False]),
        ("died=yes", ("yes", "yes", "no", "no"), [True, False]),
        ("died=1", (1.0, 1.0, 0.0, None), [True, False]),
        ("horizon", None, [False, False]),
        ("reward", None, [True, True]),
        ("terminated", None, [True, True]),
        ("truncated", None, [False, False]),
    ],
)
def test_ends(ends: str, column: tuple[Any, ...] | None, expected: list[bool]) -> None:
    log = GOOD.drop("terminated")
    log = log if column is None else put("died", *column, frame=log)
    assert read_log(log, ends=ends).terminated.tolist() == expected


def test_shorter_episodes_ended_before_the_horizon() -> None:
    assert read_log(GOOD.drop("terminated").head(3), ends="horizon").terminated.tolist() == [False, True]


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ("died=maybe", ("'died' is never 'maybe'", "no, yes")),
        ("dead=yes", ("no column 'dead'",)),
        ("died=no", ("episode 1 goes on after 'died'", "row 1")),
        ("never", ("--ends never", "COLUMN=VALUE")),
    ],
)
def test_ends_that_cannot_be(program: Program, ends: str, words: tuple[str, ...]) -> None:
    log = program.store(put("died", "no", "yes", "no", "no", frame=GOOD.drop("terminated")))
    says(program.refuses(log, "--ends", ends), *words)


def test_rewards_that_end_nothing() -> None:
    with pytest.raises(InputError, match="goes on after a reward that is not 0"):
        read_log(put("reward", 1.0, 1.0, 0.0, 0.0, frame=GOOD.drop("terminated")), ends="reward")


def test_an_outcome_that_is_lost_is_no_zero() -> None:
    log = put("reward", None, 1.0, None, None, frame=GOOD)
    with pytest.raises(InputError, match="'reward' is empty"):
        read_log(log)


@pytest.mark.parametrize("drop", [("episode", "step", "terminated"), ("step", "terminated")])
def test_logs_of_one_step(drop: tuple[str, ...]) -> None:
    log = GOOD.with_columns(episode=pl.Series([1, 2, 3, 4]), step=0).drop(drop)
    data = read_log(log)
    assert data.lengths.tolist() == [1, 1, 1, 1]
    assert data.terminated.all()
    said = "every row as episode" in " ".join(encoding(data).notes)
    assert said == ("episode" in drop)


def test_a_log_that_may_have_episodes_is_not_taken_apart() -> None:
    with pytest.raises(InputError, match="--column episode=stay_number"):
        read_log(GOOD.rename({"episode": "stay_number"}).drop("step", "terminated"))


def in_words(**words: str) -> pl.DataFrame:
    """The same outcomes, as somebody wrote them: `bad` and `good`."""
    told = {0: words["bad"], 1: words["good"]}
    return survival().with_columns(pl.col("outcome").replace_strict(told, return_dtype=pl.String))


@pytest.mark.parametrize(("bad", "good"), [("died", "Survived"), ("no", "yes"), ("Dead", "alive")])
def test_words_of_success_and_failure_are_worth_1_and_0(bad: str, good: str) -> None:
    log = read_log(in_words(bad=bad, good=good))
    assert log.rewards.tolist() == read_log(survival()).rewards.tolist()
    says("; ".join(encoding(log).notes), f"{bad} is 0", f"{good} is 1", "otherwise: --worth WORD=NUMBER")
    other = read_log(in_words(bad=bad, good=good), worth={bad: -1, good: 0})
    assert (other.rewards.min(), other.rewards.max()) == (-1.0, 0.0)
    assert "--worth" not in " ".join(encoding(other).notes)


def test_outcomes_may_be_words(program: Program) -> None:
    log = program.store(in_words(bad="died", good="Sent home"), "survival.csv")
    policy = f"{program.write('policy.py', 'def act(row): return 1')}:act"
    message = program.refuses(log, policy=policy)
    says(message, "'outcome' holds text (Sent home, died)", "--worth 'Sent home=NUMBER' --worth died=NUMBER")
    assert "terminated" not in message
    says(
        program.refuses(log, "--worth", "sent home=1", policy=policy),
        "'died', whose worth is not said",
        "--worth died=NUMBER",
    )
    says(program.refuses(log, "--worth", "survived", policy=policy), "--worth survived", "WORD=NUMBER")
    assert read_log(log, worth={"sent home": 1, "died": 0}).rewards.tolist() == read_log(survival()).rewards.tolist()


def test_decimal_commas_are_no_categories() -> None:
    log = GOOD.with_columns(obs_age=pl.Series(["0,5", "0,6", "0,7", "."]))
    with pytest.raises(InputError, match="'obs_age' is '0,5', which is no number"):
        read_log(log)


def test_only_what_is_wrong_is_said() -> None:
    """An outcome in last rows alone is an end, whatever else has to be said."""
    with pytest.raises(InputError) as caught:
        read_log(survival().rename({"treatment": "drug"}))
    says(str(caught.value), "no column 'action'", "--column action=drug")
    assert "terminated" not in str(caught.value)


def test_what_is_asked_about_may_be_meant() -> None:
    """A ward is no reward, deaths may be, and one message holds the options that settle all of it."""
    log = survival().with_columns(died=1 - pl.col("outcome")).drop("outcome")
    with pytest.raises(InputError) as caught:
        read_log(log)
    says(str(caught.value), "there is no column 'reward'", "--column reward=died")
    odd = log.rename({"patient_id": "pt", "treatment": "drug_given", "died": "mortality_28d"})
    with pytest.raises(InputError) as caught:
        read_log(odd)
    said = "try: --column episode=pt --column action=drug_given --column reward=mortality_28d"
    assert str(caught.value).endswith(said)
    columns = {"episode": "pt", "action": "drug_given", "reward": "mortality_28d"}
    assert len(read_log(odd, columns=columns)) == 120


def test_an_outcome_in_every_row_is_a_warning() -> None:
    last = pl.col("outcome").last().over("patient_id")
    repeated, once = (examine(read_log(log, ends="terminated")) for log in (survival().with_columns(last), survival()))
    found = [finding.check for finding in repeated.findings]
    assert "repeated outcome" in found
    assert "repeated outcome" not in [finding.check for finding in once.findings]


# Steps.


def test_gaps_may_be_allowed(program: Program) -> None:
    log = program.store(put("step", 3, 7, 1, 2))
    says(program.refuses(log), "no step 4", "--gaps allow")
    data = read_log(log, gaps="allow")
    assert data.lengths.tolist() == [2, 2]
    with pytest.raises(InputError, match="step 1 twice"):
        read_log(put("step", 0, 1, 1, 1), gaps="allow")


def test_days_may_be_dates() -> None:
    days = [date(2020, 1, 5), date(2020, 1, 1), date(2020, 2, 1), date(2020, 2, 3)]
    log = put("day", *days, frame=GOOD.drop("step", "terminated")).with_columns(terminated=False)
    data = read_log(log.with_columns(pl.col("day").cast(pl.String)))
    assert data.observations[:2, 0].tolist() == [0.6, 0.5]
    with pytest.raises(InputError, match="twice"):
        read_log(log.with_columns(day=pl.lit(date(2020, 1, 1))))


# Individuals.


def test_individuals_are_coded_as_the_log() -> None:
    data = read_log(survival())
    people = pl.DataFrame({"age": [50, 60], "lactate": [None, 3.0], "sex": ["F", "M"], "ward": ["icu", "surgery"]})
    found = read_individuals(people, data.observation_names, encoding=data.encoding)
    fill = encoding(data).codings[1].fill
    assert found.states.tolist() == [[50, fill, 1, 0, 1, 0, 0], [60, 3, 0, 1, 0, 0, 1]]


@pytest.mark.parametrize("column", ["patient_id", "PatientID", "mrn_id", "Name"])
def test_individuals_keep_their_names(column: str) -> None:
    """A table of patients has no column `individual`; by their numbers in it nobody knows them."""
    log = encoding(read_log(survival()))
    states = {"age": [50, 60], "lactate": [None, 3.0], "sex": ["F", "M"], "ward": ["icu", "surgery"]}
    people = pl.DataFrame({column: ["Ann", "Bob"], **states, "remark": ["-", "?"]})
    found = read_individuals(people, log.names, encoding=log)
    assert found.labels == ["Ann", "Bob"]
    assert found.notes == [f"individuals are called by {column}"]
    several = people.with_columns(subject_id=pl.lit("x"), user_id=pl.lit("y")).drop(column)
    assert read_individuals(several, log.names, encoding=log).labels == ["0", "1"]


def test_new_individuals_are_told_what_is_recommended(tmp_path: Path) -> None:
    """And what became of similar ones, also where no report is asked for: it is what `repbm value` is asked for."""
    (tmp_path / "rules.csv").write_text("lactate,treatment\n>2,drug\n*,wait\n")
    people = {"patient_id": ["Ann"], "age": [50], "lactate": [3.0], "sex": ["F"], "ward": ["icu"]}
    asked = {"estimators": ["corrected"], "individuals": pl.DataFrame(people), "details": False}
    found = evaluate(survival(), str(tmp_path / "rules.csv"), **asked).individuals.filter(source="new")
    told = found.row(0, named=True)
    assert (told["episode"], told["recommended"], told["similar"]) == ("Ann", "drug", 50)
    assert told["nearest"]


def test_new_categories_are_named() -> None:
    data = read_log(survival())
    people = {"age": [50.0], "lactate": [1.0], "sex": ["F"], "ward": ["spa"]}
    with pytest.raises(InputError, match="row 1: column 'ward' is 'spa', which the log never shows; it shows icu"):
        read_individuals(people, data.observation_names, encoding=data.encoding)


def test_a_category_in_other_letters_is_recognized() -> None:
    data = read_log(survival())
    people = {"age": [50.0], "lactate": [1.0], "sex": ["F"], "ward": [" ICU"]}
    with pytest.raises(InputError, match="column 'ward' is 'ICU', which the log never shows; did you mean 'icu'"):
        read_individuals(people, data.observation_names, encoding=data.encoding)
    few = read_log(survival(), rules=EncodingRules(most_categories=2))
    people["ward"] = ["Icu"]
    found = read_individuals(people, few.observation_names, encoding=few.encoding)
    assert found.notes == ["the log never shows these in ward, put into 'ward=other': Icu (did you mean 'icu'?)"]
    ranks = pl.Series(["LOW", "HIGH"] * 2, dtype=pl.Enum(["LOW", "HIGH"]))
    ranked = read_log(GOOD.with_columns(obs_rank=ranks))
    with pytest.raises(InputError, match="never shows; did you mean 'HIGH'"):
        read_individuals({"age": [50.0], "rank": ["high"]}, ranked.observation_names, encoding=ranked.encoding)


@pytest.mark.parametrize(
    ("names", "lacking"),
    [
        ({}, ["action", "reward"]),
        ({"customer_id": range(8)}, ["action", "reward"]),
        ({"mrn": range(8)}, ["episode", "action", "reward"]),
        ({"customer_id": [k // 2 for k in range(8)]}, ["action", "reward", "terminated"]),
        ({"t": [k % 2 for k in range(8)]}, ["episode", "action", "reward", "terminated"]),
    ],
    ids=["no names", "names", "names to be told", "several rows each", "steps"],
)
def test_tables_of_one_row_each_lack_neither_episodes_nor_ends(names: dict[str, Any], lacking: list[str]) -> None:
    table = pl.DataFrame(names | {"age": range(8), "mailing": ["a", "b"] * 4, "bought": [0, 1, 1, 0] * 2})
    with pytest.raises(InputError) as found:
        read_log(table)
    assert re.findall(r"there is no column '(\w+)'", str(found.value)) == lacking
    told = {"action": "mailing", "reward": "bought"} | ({"episode": "mrn"} if "mrn" in names else {})
    if "terminated" not in lacking:
        assert len(read_log(table, columns=told)) == 8


@pytest.mark.parametrize("name", ["pt", "inr_pt", "pat_score"])
def test_a_laboratory_value_is_no_episode(name: str) -> None:
    """Prothrombin time is `pt`; a patient may be, too, but one row each of a complete table needs no episodes."""
    table = pl.DataFrame({"age": range(8), name: [11.5, 12.0] * 4, "action": ["a", "b"] * 4, "reward": [0, 1] * 4})
    found = read_log(table)
    assert len(found) == 8
    assert name in found.observation_names


def test_new_categories_are_put_into_other() -> None:
    data = read_log(survival(), rules=EncodingRules(most_categories=2))
    people = {"age": [50.0], "lactate": [1.0], "sex": ["F"], "ward": ["spa"]}
    found = read_individuals(people, data.observation_names, encoding=data.encoding)
    assert found.states[0, -1] == 1
    assert found.notes == ["the log never shows these in ward, put into 'ward=other': spa"]


def test_what_is_never_missing_in_the_log_may_not_be_missing() -> None:
    data = read_log(survival())
    people = {"age": [50.0, 51.0], "lactate": [1.0, 2.0], "sex": ["F", None], "ward": ["icu", "icu"]}
    with pytest.raises(InputError, match="row 2: column 'sex' is empty, but never in the log"):
        read_individuals(people, data.observation_names, encoding=data.encoding)


def test_a_saved_model_keeps_the_coding(program: Program, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    import sys

    from repbm.cli import main

    log = program.store(survival(), "survival.csv")
    rules = program.write("rules.csv", "ward,action\nicu,drug\n*,wait\n")
    people = program.write("people.csv", "individual,age,lactate,sex,ward\nAnn,50,NA,F,icu\nBob,60,2.5,M,surgery\n")
    model = program.folder / "model.npz"
    options = ("--estimator", "repbm", "--save-model", model, "--individuals", people, "--out", program.out)
    assert program.run(log, "--policy", rules, *options)[0] == 0
    new = pl.read_csv(program.out / "individuals.csv").filter(source="new")
    words = ["repbm", "value", model, "--individuals", people, "--policy", rules]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    values = pl.read_csv(capfd.readouterr().out.encode())
    assert values["individual"].to_list() == ["Ann", "Bob"]
    assert len(new) == 2


def test_a_rerun_reads_alike(program: Program) -> None:
    from repbm.evaluation import repeat

    log = program.store(survival(), "survival.csv")
    rules = program.write("rules.csv", "ward,action\nicu,drug\n*,wait\n")
    options = ("--ends", "truncated", "--gaps", "allow", "--estimator", "wis", "--quiet")
    assert program.run(log, "--policy", rules, "--out", program.out, *options)[0] == 0
    again = repeat(program.out)
    assert again.question.reading == Reading(ends="truncated", gaps="allow")
    assert again.estimates.equals(Evaluation.load(program.out).estimates)


def test_an_encoding_survives_json() -> None:
    data = read_log(survival().with_columns(seen=pl.lit(date(2020, 1, 1))))
    stored = json.loads(json.dumps(encoding(data).to_dict()))
    assert Encoding.of(stored) == encoding(data)
    assert encoding(data).codings[-1].kind is Kind.DATE


def test_evaluate_in_python() -> None:
    found = evaluate(survival(), lambda row: "drug" if row["ward"] == "icu" else "wait", estimators=["wis"])
    assert found.estimates["value"].is_finite().all()
