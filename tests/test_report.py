"""The report: what it says, that it needs nothing but itself, and that it works in a real browser."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from repbm.cli import main
from repbm.cli._pdf import find_browser, printed
from repbm.core import NoveltyRules, Thresholds, stream
from repbm.doctor import Backtest, backtest
from repbm.domains import TabularWorld
from repbm.evaluation import SHOWN_INDIVIDUALS, Evaluation, evaluate
from repbm.inference import subgroups
from repbm.models import AM, fit_tabular
from repbm.policies import CallablePolicy, TabularPolicy
from repbm.report import Shown, report
from repbm.report._charts import backtest_chart
from tests.pages import run


def patients(count: int = 300, steps: int = 4) -> pl.DataFrame:
    """Sodium rises with saline; the old bear it badly."""
    generator = np.random.default_rng(5)
    age, sodium = generator.integers(25, 90, count).astype(float), generator.normal(130, 4, count)
    rows = []
    for step in range(steps):
        treated = generator.random(count) < 0.5
        cost = 0.3 + np.where(age > 60, 3.0, 0.0)
        rows.append(
            pl.DataFrame(
                {
                    "episode": [f"P{k:03d}" for k in range(count)],
                    "step": step,
                    "obs_age": age,
                    "obs_sodium": sodium,
                    "action": np.where(treated, "saline", "wait"),
                    "reward": -np.abs(sodium - 140) / 5 - cost * treated,
                    "terminated": step == steps - 1,
                    "behavior_prob": 0.5,
                }
            )
        )
        sodium = sodium + 2.0 * treated + generator.normal(0, 0.5, count)
    return pl.concat(rows).sort("episode", "step")


def always(observations: np.ndarray) -> np.ndarray:
    return np.full(len(observations), "saline")


def careful(observations: np.ndarray) -> np.ndarray:
    return np.where((observations[:, 0] < 60) & (observations[:, 1] < 136), "saline", "wait")


@pytest.fixture(scope="module")
def both() -> Evaluation:
    return evaluate(patients(), {"always <b>": always, "careful": careful}, estimators=["repbm", "wdr(repbm)", "wis"])


@pytest.fixture(scope="module")
def page(both: Evaluation) -> str:
    return report(both).html()


def test_the_answer_the_difference_and_the_verdict_come_first(both: Evaluation, page: str) -> None:
    answers = both.estimates.filter("headline")
    for row in answers.iter_rows(named=True):
        assert f"{row['value']:.3f}"[:5] in page
        assert both.examination.verdicts[row["policy"]].word in page.lower()
    assert page.index("than what is done now") < page.index("What different methods say")
    assert "All policies, the best first" in page


def test_details_stand_in_the_order_of_the_ranking(both: Evaluation, page: str) -> None:
    ranked = both.ranking["policy"].to_list()
    assert ranked == ["careful", "always <b>"] != both.estimates["policy"].unique(maintain_order=True).to_list()
    folded = re.findall(r'<details class="policy"><summary><h2>(.*?)</h2>', page)
    assert [html.unescape(name) for name in folded] == ranked
    links = re.findall(r'<a href="#part-(\d)">(.*?)</a>', page)
    assert [(int(place), html.unescape(name)) for place, name in links] == list(enumerate(ranked))


def test_nothing_is_fetched_and_names_are_inert(page: str) -> None:
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "always <b>" not in page
    assert "always &lt;b&gt;" in page


def test_a_gap_within_chance_is_no_alarm(both: Evaluation, page: str) -> None:
    found = both.backtest
    assert found is not None
    away, error = found.gap
    assert abs(away) < 3 * error
    assert "They agree within chance." in page
    assert "That is more than chance." not in page


def test_what_the_policy_does_is_said(page: str) -> None:
    assert "the policy chooses saline in 100%" in page


def test_what_is_not_supported_is_said_before_the_number() -> None:
    def never(observations: np.ndarray) -> np.ndarray:
        return np.where(observations[:, 1] < 130, "surgery", "wait")

    page = report(evaluate(patients(100), never)).html()
    assert page.index("do not rely on the number") < page.index("on average")


def test_few_effective_episodes_are_said_in_the_breath_of_the_verdict() -> None:
    """The tick says that the log can answer, and from how few; what it says is not noted once more below."""
    found = evaluate(patients(60), careful, estimators=["corrected"])
    (answer,) = found.estimates.to_dicts()
    verdict = found.examination.verdicts["careful"]
    assert verdict.supported
    assert answer["effective_episodes"] < 50
    assert f"only {answer['effective_episodes']:.1f} effective episodes" in answer["note"]
    said = f"but only {answer['effective_episodes']:.0f} effective episodes stand behind the number"
    assert said in verdict.sentence
    page = report(found).html()
    assert "✓ The log can answer this, but from few episodes." in page
    assert "✓ The log can answer this." not in page
    assert said in page
    assert "To be noted" not in page
    many = replace(verdict, answer_episodes=50.0)
    assert "effective episodes" not in many.sentence


def test_a_policy_without_a_model_has_no_individuals() -> None:
    found = evaluate(patients(60), careful, estimators=["wis"])
    page = report(found).html()
    assert "Single individuals" not in page
    assert "How good is the model" not in page


def test_no_estimate_is_said_in_words() -> None:
    log = patients(30).with_columns(
        action=pl.when(pl.col("step") == 0).then(pl.lit("wait")).otherwise(pl.col("action"))
    )
    page = report(evaluate(log, always, estimators=["wis"])).html()
    assert "No estimate is possible." in page


def test_who_gains_is_found_and_noise_is_not(both: Evaluation) -> None:
    generator = np.random.default_rng(0)
    states = generator.normal(size=(2000, 3))
    gains = np.where(states[:, 1] > 0.5, 2.0, -1.0) + generator.normal(size=2000)
    best, worst = subgroups(states, ("a", "b", "c"), gains)
    assert best.conditions[0].startswith(("b > 0.4", "b > 0.5"))
    assert best.low < 2.0 < best.high
    assert worst.low < -1.0 < worst.high
    assert best.share + worst.share == pytest.approx(1)
    # The F test lets one in twenty through; fewer than 5 of 40 with 95 % and more.
    false = sum(bool(subgroups(states, ("a", "b", "c"), stream(seed, "noise").normal(size=2000))) for seed in range(40))
    assert false <= 5


def test_groups_of_patients_are_on_the_page(both: Evaluation, page: str) -> None:
    assert "age &gt; 6" in page
    assert "No groups whose gains differ" not in page.split("careful")[0]


def world() -> tuple[TabularWorld, np.ndarray]:
    generator = stream(4, "report")
    return TabularWorld.random(states=5, actions=2, horizon=6, generator=generator), generator.dirichlet([1, 1], size=5)


def test_support_of_individuals_is_what_novelty_leaves() -> None:
    known, behavior = world()
    data = known.collect(behavior, 15, stream(0, "log"))
    model = fit_tabular(data, None, AM, 6)
    policy = TabularPolicy(np.full((5, 2), 0.5), data.actions.labels)
    each = model.support_probability(data, policy, data.initial_observations, 6, NoveltyRules())
    assert 0 < each.mean() < 1
    assert 1 - each.mean() == pytest.approx(model.novelty(data, policy, 6, NoveltyRules())[-1], abs=1e-12)


def test_a_backtest_of_a_good_model_agrees_with_the_log() -> None:
    known, behavior = world()
    data = known.collect(behavior, 2000, stream(1, "log"))
    fitted, kept = data.take(np.arange(1600)), data.take(np.arange(1600, 2000))
    found = backtest(fit_tabular(fitted, None, AM, 6), fitted, kept, 0.9, 6)
    away, error = found.gap
    assert abs(away) < 3 * error
    assert sum(count for *_, count in found.bins()) == len(found.predicted) == 256


@pytest.mark.slow
def test_many_individuals_are_a_sample_and_said_to_be() -> None:
    known, behavior = world()
    log = known.collect(behavior, SHOWN_INDIVIDUALS + 5000, stream(2, "log"))
    found = evaluate(log, CallablePolicy(lambda x: (x[:, 0] > 2).astype(int)), estimators=["repbm"])
    made = report(found).html()
    assert "A sample: 7,500 of 15,000 individuals" in made
    assert len(made.encode()) < 5e6


def test_the_command_writes_the_page_and_the_plots(tmp_path: Path, monkeypatch, capsys) -> None:
    patients(80).write_parquet(tmp_path / "log.parquet")
    (tmp_path / "rules.csv").write_text("age,sodium,action\n<60,<136,saline\n*,*,wait\n")
    monkeypatch.chdir(tmp_path)
    words = "evaluate log.parquet --policy rules.csv --estimator repbm --out result --plots".split()
    monkeypatch.setattr(sys, "argv", ["repbm", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr().err
    drawn = {path.name for path in (tmp_path / "result" / "plots").iterdir()}
    expected = {"estimates", "support", "individuals", "ahead", "backtest"}
    assert {f"{name}.{end}" for name in expected for end in ("png", "svg")} <= drawn
    assert (tmp_path / "result" / "plots" / "support.png").read_bytes().startswith(b"\x89PNG")
    assert "report.html" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["repbm", *words[:4], "--plots"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--out" in capsys.readouterr().err


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def opened(page: str, tmp_path_factory) -> Iterator[tuple]:
    """The page in a browser without a network, and what it complained about."""
    from playwright.sync_api import sync_playwright

    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, "utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        tab = context.new_page()
        complaints: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda fault: complaints.append(str(fault)))
        tab.on("request", lambda request: complaints.append(request.url) if request.url != path.as_uri() else None)
        tab.goto(path.as_uri())
        yield tab, complaints
        browser.close()


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (apt: chromium)")


@needs_browser
def test_the_page_loads_alone_and_without_complaint(opened) -> None:
    tab, complaints = opened
    assert [line for line in complaints if not line.startswith("data:")] == []
    assert tab.locator("figure svg").count() >= 8


@needs_browser
def test_the_table_sorts_searches_and_scrolls(opened) -> None:
    tab, _ = opened
    tab.locator("#open-all").click()
    people = tab.locator("section.people").first
    value = people.locator("th button").all_inner_texts().index("value") + 1

    def column(number: int) -> list[str]:
        return people.locator(f"tbody tr:not(.gap) td:nth-child({number})").all_inner_texts()

    assert column(1)[0] == "P000"
    header = people.locator("th button", has_text="value")
    header.click()
    rising = [float(cell) for cell in column(value)]
    assert rising == sorted(rising)
    header.click()
    falling = [float(cell) for cell in column(value)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > rising[-1]
    assert people.locator("th[aria-sort=descending]").inner_text() == "value"
    search = people.locator("input[type=search]")
    search.fill("P29")
    assert sorted(column(1)) == [f"P{k}" for k in range(290, 300)]
    assert people.locator(".count").inner_text() == "10 of 300"
    search.fill("")
    box = people.locator(".scroll")
    box.evaluate("box => { box.scrollTop = box.scrollHeight }")
    tab.wait_for_timeout(100)
    assert len(column(1)) < 60
    last = [float(cell) for cell in column(value)][-1]
    assert last == min(rising)
    people.locator(".from").fill(str(falling[10]))
    assert [float(cell) for cell in column(value)] == [cell for cell in falling if cell >= falling[10]]
    people.locator(".clear").click()
    assert people.locator(".count").inner_text() == "300 individuals"


@needs_browser
def test_bars_that_are_dragged_over_tell_who_is_behind_them(opened) -> None:
    tab, _ = opened
    tab.locator("#open-all").click()
    figure = tab.locator("figure[data-brush]").first
    figure.scroll_into_view_if_needed()
    bars = figure.locator("[aria-roledescription=bar]")
    first, last = bars.nth(0).bounding_box(), bars.nth(bars.count() - 1).bounding_box()
    middle = bars.nth(bars.count() // 2).bounding_box()
    place = figure.bounding_box()
    assert first is not None
    assert last is not None
    assert middle is not None
    assert place is not None
    height = place["y"] + 40
    tab.mouse.move(first["x"] + 2, height)
    tab.mouse.down()
    tab.mouse.move(middle["x"] + 2, height)
    tab.mouse.up()
    told = tab.locator(".group").first
    count = int(told.inner_text().split(" of ")[0])
    assert 0 < count < 300
    assert "age " in told.inner_text()
    people = tab.locator("section.people").first
    assert people.locator(".count").inner_text() == f"{count} of 300"
    tab.mouse.move(first["x"] + 2, height)
    tab.mouse.down()
    tab.mouse.move(last["x"] + 2, height)
    tab.mouse.up()
    assert told.inner_text().startswith("300 of 300")
    people.locator(".clear").click()
    assert not told.is_visible()


@needs_browser
def test_marks_explain_themselves(opened) -> None:
    tab, _ = opened
    tab.locator("#open-all").click()
    mark = tab.locator("figure [aria-roledescription=point]").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    assert "value" in tab.locator("#tip").inner_text()


AXE = "4.14.0"
AXE_FOLDER = Path(__file__).parent.parent / ".cache" / "axe"


@pytest.fixture(scope="module")
def axe() -> str:
    """The accessibility checker, fetched once; only the tests need it."""
    script = AXE_FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("no npm on this machine to fetch axe-core")
        AXE_FOLDER.mkdir(parents=True, exist_ok=True)
        words = [npm, "install", "--no-save", "--ignore-scripts", "--prefix", str(AXE_FOLDER), f"axe-core@{AXE}"]
        if subprocess.run(words, capture_output=True, check=False).returncode:
            pytest.skip("axe-core cannot be fetched")
    return script.read_text("utf-8")


@needs_browser
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1200, "light"),
        pytest.param(390, "dark", marks=pytest.mark.slow),
        pytest.param(1200, "dark", marks=pytest.mark.slow),
        pytest.param(390, "light", marks=pytest.mark.slow),
    ],
)
def test_nobody_is_shut_out(opened, axe: str, width: int, scheme: str) -> None:
    """No violation of WCAG 2.2 AA, folded up or not, and nothing to scroll sideways."""
    tab, _ = opened
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme=scheme)
    tab.evaluate(axe)
    for is_open in ("false", "true"):
        tab.evaluate(f"document.querySelectorAll('details').forEach((one) => {{ one.open = {is_open}; }})")
        found = tab.evaluate(
            "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })"
        )
        assert len(found["passes"]) > 10
        assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


@needs_browser
def test_what_methods_do_is_readable_on_a_telephone(opened) -> None:
    """Beside five columns of numbers the last one was as wide as a word, and its rows as long as the screen."""
    tab, _ = opened
    tab.set_viewport_size({"width": 390, "height": 900})
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    sizes = "[...document.querySelectorAll('.methods tbody tr')].map((row) => [row.lastElementChild, row])"
    sizes = tab.evaluate(f"{sizes}.map(([last, row]) => [last.clientWidth, row.clientHeight])")
    assert len(sizes) > 3
    assert all(width > 300 and height < 450 for width, height in sizes)


@needs_browser
def test_tables_are_not_cut_on_a_telephone(opened) -> None:
    """Rows stand below each other; who is in the log scrolls in its own box, beside what the rows are about."""
    tab, _ = opened
    tab.set_viewport_size({"width": 390, "height": 900})
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wide = "[...document.querySelectorAll('.wide')].map((box) => [box.ariaLabel, box.scrollWidth - box.clientWidth])"
    boxes = dict(tab.evaluate(wide))
    assert {"Table: Overlap by action and region", "Table: Who gains and who loses"} <= set(boxes)
    assert [name for name, over in boxes.items() if over > 0 and name != "Table: Who is in the log"] == []
    told = tab.locator("table.stack td[data-name='mean difference']").first
    assert told.evaluate("(cell) => getComputedStyle(cell, '::before').content") == '"mean difference: "'
    tab.evaluate("document.querySelector('#cohort .wide').scrollLeft = 60")
    left = tab.locator("#cohort tbody th").first.bounding_box()
    assert left is not None
    assert left["x"] == pytest.approx(tab.locator("#cohort .wide").bounding_box()["x"], abs=1)


def test_bars_of_errors_end_where_outcomes_do() -> None:
    tested = Backtest({}, np.linspace(0.5, 0.95, 80), (np.arange(80) % 10 > 0).astype(float), 0.1)
    bars = backtest_chart(tested, Shown(binary=True), (0.0, 1.0)).to_dict()["datasets"]
    rows = [row for rows in bars.values() for row in rows if "low" in row]
    assert rows
    assert all(0 <= row["low"] <= row["observed"] <= row["high"] <= 1 for row in rows)
    free = backtest_chart(tested, Shown(binary=True)).to_dict()["datasets"]
    assert any(row["high"] > 1 for rows in free.values() for row in rows if "low" in row)


@needs_browser
@pytest.mark.slow
def test_what_is_folded_up_is_printed(page: str) -> None:
    printed_page = printed(page, find_browser())
    assert printed_page.startswith(b"%PDF")
    folded = page.replace("details::details-content", "details::nothing").replace('"beforeprint"', '"never"')
    assert len(printed(folded, find_browser())) < 0.5 * len(printed_page)


def test_without_a_screen_one_line_says_so(tmp_path: Path, monkeypatch) -> None:
    """On a server, what opens files named every browser that it did not find."""
    patients(30, 2).write_csv(tmp_path / "log.csv")
    launched: list[str] = []
    monkeypatch.setattr("typer.launch", launched.append)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    words = ["repbm", "evaluate", str(tmp_path / "log.csv"), "--policy", "column:action", "--estimator", "wis"]
    words += ["--out", str(tmp_path / "result"), "--open"]
    code, said = run(words)
    assert code == 0, said
    assert "there is no screen here to open it on: look at" in said
    assert launched == []
    monkeypatch.setenv("DISPLAY", ":0")
    assert run(words)[0] == 0
    assert launched == [str(tmp_path / "result" / "report.html")]


def test_without_a_browser_one_line_says_so(tmp_path: Path, monkeypatch) -> None:
    patients(20).write_csv(tmp_path / "log.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    Path("rules.csv").write_text("age,sodium,action\n*,*,wait\n")
    code, said = run([*"repbm evaluate log.csv --policy rules.csv --out result --pdf".split()])
    assert code == 2
    assert said.strip().count("\n") == 0
    assert "install chromium" in said
    assert not Path("result").exists()


def test_an_answer_that_is_too_vague_is_said_to_be_open() -> None:
    vague = Thresholds.of({"support": {"largest_precision": 0.01}})
    page = report(evaluate(patients(100), careful, estimators=["corrected"], thresholds=vague)).html()
    assert "! The log cannot tell." in page
    assert "only in part" not in page
    assert "wherever the policy leads, what it does was logged" in page


def test_returns_that_never_vary_have_a_verdict(tmp_path: Path) -> None:
    still = patients(60).with_columns(reward=pl.lit(0.0))
    found = evaluate(still, careful, estimators=["corrected"])
    found.write(tmp_path / "result")
    (verdict,) = Evaluation.load(tmp_path / "result").examination.verdicts.values()
    assert verdict.precision is None
    assert verdict.sentence.startswith("supported: ")
