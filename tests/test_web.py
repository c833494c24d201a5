"""The page to work with: answered by a real server, used in a real browser, and attacked a little."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import polars as pl
import pytest

from repbm.cli import main
from repbm.core import InputError, stream
from repbm.engines import InProcess
from repbm.evaluation import Study, evaluate
from repbm.policies import Policy
from repbm.policies.adapters import DecisionTable, as_policy
from repbm.web import Session, application, serve
from repbm.web._forms import TableForm, fields_of
from repbm.web._view import page
from tests.test_report import CHROMIUM, needs_browser, patients

uvicorn = pytest.importorskip("uvicorn")

TOKEN = "secret-of-the-test"
HOSTILE = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
RULES = "age,sodium,action\n<60,<136,saline\n*,*,wait\n"


@contextmanager
def served(session: Session) -> Iterator[str]:
    """The address of a page of this process."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(application(session, TOKEN), log_level="error"))
        running = threading.Thread(target=server.run, kwargs={"sockets": [own]})
        running.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{own.getsockname()[1]}/{TOKEN}/"
        server.should_exit = True
        running.join()


def session_of(folder: Path, policies: Mapping[str, Policy]) -> Session:
    log = patients(60, 2).with_columns(pl.col("episode").str.replace("P001", HOSTILE, literal=True))
    log.write_parquet(folder / "log.parquet")
    return Session(Study(str(folder / "log.parquet")), policies)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Session]]:
    tables = {name: DecisionTable.of_text(RULES) for name in (HOSTILE, "rules")}
    session = session_of(tmp_path_factory.mktemp("live"), {**tables, "logged": as_policy("column:action")})
    with served(session) as address:
        yield address, session


def asked(address: str, path: str = "", form: dict[str, str] | bytes | None = None, **headers: str) -> tuple:
    """Status, headers and text of an answer; redirects are not followed."""
    to = urlsplit(address)
    connection = http.client.HTTPConnection(to.hostname or "", to.port or 0, timeout=60)
    body = urlencode(form) if isinstance(form, dict) else form
    connection.request("GET" if form is None else "POST", f"{to.path}{path}", body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def form_of(**changed: str) -> dict[str, str]:
    table = TableForm.of(DecisionTable.of_text(RULES), "mine")
    fields = {"name": table.name} | {f"head-{k}": name for k, name in enumerate(table.header)}
    for number, row in enumerate(table.rows):
        fields |= {f"cell-{number}-{k}": cell for k, cell in enumerate(row)}
    return fields | {name.replace("_", "-"): value for name, value in changed.items()}


def test_a_changed_rule_is_answered_as_by_evaluate(live) -> None:
    address, session = live
    status, headers, _ = asked(address, "ask", form_of(cell_0_0="<45"))
    assert status == 303
    status, _, page = asked(address, headers["location"].rpartition("/")[2])
    assert status == 200
    rules = DecisionTable.of_text(RULES.replace("<60", "<45"))
    row = evaluate(session.study.log, rules, estimators=["corrected"], details=False).estimates.row(0, named=True)
    assert session.answers[-1].evaluation.estimates["value"][0] == row["value"]
    assert f"{row['value']:.3f}"[:5] in page
    assert session.answers[-1].evaluation.examination.verdicts["mine"].word in page.lower()
    assert "clearly gain" in page
    before = len(session.answers)
    assert asked(address, "ask", form_of(cell_0_0="<45"))[1]["location"] == headers["location"]
    assert len(session.answers) == before


def test_what_is_shown_can_be_taken_along(live) -> None:
    address, session = live
    number = session.ask("taken", DecisionTable.of_text(RULES)).number
    status, headers, text = asked(address, f"individuals.csv?of={number}")
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    assert len(text.splitlines()) == 61
    assert asked(address, f"rules.csv?of={number}")[2] == RULES
    assert asked(address, f"estimates.csv?of={number}")[2].startswith("policy,estimator")
    assert [asked(address, path)[0] for path in ("run.json", "rules.csv?of=99", "rules.csv?of=x")] == [404] * 3


def test_individuals_are_found_and_compared(live) -> None:
    address, session = live
    number = session.ask("found", DecisionTable.of_text(RULES)).number
    page = asked(address, f"?of={number}&find=p03")[2]
    assert set(re.findall(r"<td>(P\d+)</td>", page)) == {f"P03{k}" for k in range(10)}
    page = asked(address, f"?of={number}&find=p03&compare=P031&compare=P007")[2]
    assert "Side by side" in page
    assert ">P007</th>" in page
    assert re.search(r"under \d+. found", page)


def test_policies_that_are_no_tables_answer_too(live) -> None:
    address, session = live
    assert asked(address, "ask", {"policy": "logged"})[0] == 303
    assert session.answers[-1].evaluation.estimates["estimator"].to_list() == ["wis"]
    assert asked(address)[0] == 200


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (form_of(cell_0_0="<old"), "column &#39;age&#39;"),
        (form_of(cell_1_0="<10"), "no row fits"),
        (form_of(cell_0_2="surgery"), "surgery"),
        (form_of(head_0="agee"), "did you mean &#39;age&#39;?"),
        (form_of(name=" "), "the policy has no name"),
        ({"name": "x"}, "empty"),
        ({"policy": HOSTILE + "x"}, "there is no policy"),
        (form_of(name=HOSTILE, cell_0_0=HOSTILE), "This cannot be answered"),
        (b"\xff\xfe=1", "no form"),
        (b"a=1&" * 6_000, "no form"),
        (b"x" * 300_000, "too large"),
    ],
)
def test_what_cannot_be_answered_is_said(live, form, words: str) -> None:
    address, session = live
    before = len(session.answers)
    status, _, page = asked(address, "ask", form)
    assert status == 422
    assert words in page
    assert len(session.answers) == before


def test_whoever_does_not_know_the_secret_sees_nothing(live) -> None:
    address, _ = live
    for path in ("/", "/other/", "/other/ask", f"/{TOKEN}x/", f"/{TOKEN}", "/docs", "/other/individuals.csv"):
        status, _, text = asked(address.replace(f"/{TOKEN}/", ""), path)
        assert (status, "sodium" in text) in ((404, False), (405, False), (307, False)), path
    assert asked(address, Host="evil.example")[0] == 400
    assert asked(address, Host="evil.example:80")[0] == 400
    headers = asked(address)[1]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "script" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_names_are_inert(live) -> None:
    address, session = live
    session.ask(HOSTILE, DecisionTable.of_text(RULES))
    for path in ("", "?find=" + "%3Cscript%3E", "?compare=P007&find=" + "%22%3E%3Cimg"):
        page = asked(address, path)[2]
        assert "<script" not in page
        assert "<img" not in page


def test_what_is_wrong_with_the_log_is_seen_first(tmp_path: Path) -> None:
    patients(40, 2).with_columns(obs_score=pl.col("reward")).write_parquet(tmp_path / "log.parquet")
    session = Session(Study(str(tmp_path / "log.parquet")), {"rules": DecisionTable.of_text(RULES)})
    shown = page(session, None, TableForm.of(session.blank(), "new"))
    assert -1 < shown.index("Warning: score: is the reward of the same step") < shown.index("Rules")


def test_what_was_taken_for_what_is_said(tmp_path: Path, monkeypatch, capsys) -> None:
    patients(40, 2).rename({"reward": "deaths", "obs_age": "age", "obs_sodium": "sodium"}).write_csv(
        tmp_path / "log.csv"
    )
    (tmp_path / "rules.csv").write_text(RULES)
    shown: list[str] = []
    monkeypatch.setattr("repbm.web.serve", lambda session, port, ready: shown.append(page_of(session)))
    monkeypatch.chdir(tmp_path)
    words = "repbm serve log.csv --policy rules.csv --column reward=deaths"
    monkeypatch.setattr(sys, "argv", words.split())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    said = "age, sodium as observations"
    assert said in shown[0]
    assert said in capsys.readouterr().err


def test_numbers_of_states_are_short(live) -> None:
    """An age is 89, not 89.00."""
    session = live[1]
    rows = re.findall(r"<td>(\d+\.?\d*)</td>", page_of(session))
    assert rows
    assert all(float(row) == float(f"{float(row):.5g}") for row in rows)
    assert any(re.fullmatch(r"\d\d", row) for row in rows)


def page_of(session: Session) -> str:
    answer = session.ask("rules", DecisionTable.of_text(RULES))
    return page(session, answer, TableForm.of(DecisionTable.of_text(RULES), "rules"))


def test_tables_as_forms() -> None:
    form = TableForm.read(form_of())
    assert form.text == RULES
    assert form.with_row().rows == (("<60", "<136", "saline"), ("*", "*", ""), ("*", "*", "wait"))
    assert TableForm.read(form_of(cell_0_0="", cell_0_1="", cell_0_2="")).rows == (("*", "*", "wait"),)
    with pytest.raises(InputError):
        fields_of(b"a=1&" * 6_000)


def test_without_policies_a_table_to_begin_with(tmp_path: Path) -> None:
    patients(20, 2).write_parquet(tmp_path / "log.parquet")
    blank = Session(Study(str(tmp_path / "log.parquet")), {}).blank()
    assert blank.header == ("age", "sodium", "action")
    assert blank.cells == (("*", "*", "saline"),)


def test_the_page_opens_with_an_answer(tmp_path: Path, monkeypatch) -> None:
    """What no policy changes is fitted by then, in this process: others would start, and be told, for longer."""
    patients(40, 2).write_parquet(tmp_path / "log.parquet")
    (tmp_path / "rules.csv").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    seen: list[Session] = []
    monkeypatch.setattr("repbm.web.serve", lambda session, port, ready: seen.append(session))
    words = ["repbm", "serve", "log.parquet", "--policy", "mine=rules.csv", "--policy", "rules.csv"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert [answer.name for answer in seen[0].answers] == ["mine"]
    assert isinstance(seen[0].evaluator.engine, InProcess)
    assert seen[0].ask("mine", seen[0].policies["mine"]).number == 0


def test_the_page_opens_where_the_first_policy_cannot_be_answered(tmp_path: Path, monkeypatch, capsys) -> None:
    """A rule is lacking: the page is where it is added, and the second policy can be asked."""
    patients(40, 2).write_parquet(tmp_path / "log.parquet")
    (tmp_path / "rules.csv").write_text(RULES)
    (tmp_path / "hole.csv").write_text(RULES.removesuffix("*,*,wait\n"))
    monkeypatch.chdir(tmp_path)
    seen: list[Session] = []
    monkeypatch.setattr("repbm.web.serve", lambda session, port, ready: seen.append(session))
    words = ["repbm", "serve", "log.parquet", "--policy", "hole.csv", "--policy", "rules.csv"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert not seen[0].answers
    assert "note: hole.csv (hole.csv): no row fits" in capsys.readouterr().err
    table = seen[0].policies["hole.csv"]
    assert isinstance(table, DecisionTable)
    assert "hole.csv" in page(seen[0], None, TableForm.of(table, "hole.csv"))


def test_the_address_is_open_when_it_is_told(tmp_path: Path, monkeypatch) -> None:
    knocked = []

    def knock(address: str) -> None:
        to = urlsplit(address)
        with socket.create_connection((to.hostname or "", to.port or 0), timeout=5):
            knocked.append(address)

    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    patients(20, 2).write_parquet(tmp_path / "log.parquet")
    serve(Session(Study(str(tmp_path / "log.parquet")), {}), 0, knock)
    assert len(knocked) == 1


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    """It says its address, answers there, and ends on an interrupt."""
    patients(40, 2).write_parquet(tmp_path / "log.parquet")
    (tmp_path / "rules.csv").write_text(RULES)
    code = "from repbm.cli import main; main()"
    words = [sys.executable, "-u", "-c", code, "serve", "log.parquet", "--policy", "rules.csv", "--workers", "2"]
    words += ["--outcome", "burden", "--unit", "points", "--better", "less"]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    address = running.stdout.readline().removeprefix("look at ").strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
    until = time.monotonic() + 60
    while True:
        try:
            status, _, page = asked(address)
            break
        except OSError:
            assert time.monotonic() < until
    assert status == 200
    assert "rules.csv" in page
    assert " points</span> burden on average" in page
    assert asked(address, "ask", {"policy": "rules.csv"})[0] == 303
    os.kill(running.pid, signal.SIGINT)
    running.stdout.close()
    assert running.wait(30) in (0, 130, -signal.SIGINT)


@pytest.mark.slow
@needs_browser
def test_a_person_works_with_it(live, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    address, _ = live
    origin = address.removesuffix(f"{TOKEN}/")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        complaints: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda fault: complaints.append(str(fault)))
        tab.on("request", lambda request: None if request.url.startswith(origin) else complaints.append(request.url))
        tab.goto(address)
        tab.get_by_label("Name").fill("live")
        tab.get_by_label("age, rule 1").fill("<70")
        tab.get_by_role("button", name="What would happen?").click()
        first = tab.locator("#answer .figure").first.inner_text()
        assert tab.locator("#answer h2").inner_text().endswith(". live")
        tab.get_by_label("age, rule 1").fill("<40")
        tab.get_by_role("button", name="What would happen?").click()
        assert tab.locator("#answer .figure").first.inner_text() != first
        tab.get_by_role("button", name="Add a rule").click()
        assert tab.get_by_label("age, rule 2").input_value() == "*"
        tab.get_by_label("action, rule 2").fill("saline")
        tab.get_by_label("sodium, rule 2").fill("<120")
        tab.get_by_role("button", name="What would happen?").click()
        assert tab.locator("#history tbody tr").count() >= 3
        tab.get_by_label("Find").fill("P01")
        tab.get_by_role("button", name="Find or compare").click()
        for name in ("P011", "P012"):
            tab.get_by_label(f"compare {name}").check()
        tab.get_by_role("button", name="Find or compare").click()
        assert tab.locator("#compared th").all_inner_texts()[1:] in (["P011", "P012"], ["P012", "P011"])
        with tab.expect_download() as found:
            tab.get_by_role("link", name="Individuals (CSV)").click()
        assert Path(found.value.path()).read_text().startswith("episode,value")
        tab.get_by_label("Name").fill(HOSTILE)
        tab.get_by_label("age, rule 1").fill(f"<70{HOSTILE}")
        tab.get_by_role("button", name="What would happen?").click()
        assert "cannot be answered" in tab.locator("[role=alert]").inner_text()
        tab.goto(f"{address}?{urlencode({'find': HOSTILE, 'compare': HOSTILE})}")
        assert tab.title() != "run"
        tab.set_viewport_size({"width": 390, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        tab.screenshot(path=os.environ.get("REPBM_SCREENSHOT") or str(tmp_path / "page.png"), full_page=True)
        browser.close()
    assert [line for line in complaints if "422" not in line] == []


def test_who_gains_is_what_the_report_says(tmp_path: Path) -> None:
    """Most episodes are cut off: what they earned is counted to its end there, and here."""
    draw = stream(1, "cut off")
    lengths = draw.integers(2, 9, 120)
    ill = np.repeat(draw.uniform(size=120), lengths)
    treated = draw.uniform(size=len(ill)) < 0.5
    log = pl.DataFrame(
        {
            "episode": np.repeat(np.arange(120), lengths),
            "obs_ill": ill,
            "action": np.where(treated, "treat", "wait"),
            "reward": 2 * ill * (treated == (ill >= 0.5)) + draw.normal(size=len(ill), scale=0.3),
            "terminated": np.zeros(len(ill), dtype=bool),
        }
    )
    log.write_parquet(tmp_path / "log.parquet")
    session = Session(Study(str(tmp_path / "log.parquet")), {})
    answer = session.ask("mine", DecisionTable.of_text("ill,action\n>=0.5,treat\n*,wait\n"))
    shown = page(session, answer, TableForm.of(session.blank(), "new"))
    groups = session.in_full(answer).policies["mine"].groups
    assert len(groups) > 1
    for group in groups:
        low, high = (f"{end:+.4g}" for end in (group.low, group.high))
        assert f'<td class="n">{group.gain:+.4g}</td><td class="n">{low} to {high}</td>' in shown


def test_outcomes_of_0_and_1_are_percentages(tmp_path: Path) -> None:
    log = pl.DataFrame(
        {
            "episode": [k // 2 for k in range(80)],
            "obs_age": [40.0 + (7 * k) % 31 for k in range(80)],
            "action": ["saline" if k % 3 else "wait" for k in range(80)],
            "survived": [None if k % 2 == 0 else float(k % 5 > 0) for k in range(80)],
        }
    )
    log.write_parquet(tmp_path / "log.parquet")
    session = Session(Study(str(tmp_path / "log.parquet")), {})
    answer = session.ask("mine", DecisionTable.of_text("age,action\n<55,saline\n*,wait\n"))
    shown = page(session, answer, TableForm.of(session.blank(), "new"))
    row = answer.evaluation.estimates.row(0, named=True)
    assert f'<span class="figure">{100 * row["value"]:.1f}%</span>' in shown
    assert f'<span class="figure">{100 * row["difference"]:+.1f} points</span>' in shown
    assert f"what is done now, {100 * row['logged_mean']:.1f}%" in shown
