"""Shell examples of the docs: the commands take each line, and all that can be run in seconds are run, page by page."""

import csv
import re
import sys
import threading
import time
from pathlib import Path

import pytest
import typer

from dsna.cli.app import app
from dsna.cli.main import main
from dsna_studies.__main__ import main as study_main
from dsna_studies.cli.app import app as studies

from .doc_examples import (
    FILES,
    NOT_RUN,
    command_lines,
    make_inputs,
    name_of,
    reason_not_to_run,
    request_of,
    split_assignment,
    words_of,
)
from .test_docs import PAGES, ROOT, shape_of

PROGRAMS = ("dsna ", "python -m dsna_studies ")
_CUT_SHORT = ("MissingParameter", "BadOptionUsage", "BadArgumentUsage")


def parsed_lines():
    """(page, line, whether it is whole): those of blocks, those in the text, and those of the help."""
    for page in PAGES:
        for line in command_lines(page):
            command = split_assignment(line)[0]
            if command.startswith(PROGRAMS):
                yield pytest.param(command, True, id=f"{name_of(page)}: {command.split('#')[0].strip()[:60]}")
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for line in sorted(set(re.findall(r"`((?:dsna|python -m dsna_studies) [a-z][^`]*)`", prose))):
            if "..." not in line:
                yield pytest.param(line, False, id=f"{name_of(page)}: {line[:60]}")
    for line in sorted({*help_examples(typer.main.get_command(app)), *help_examples(typer.main.get_command(studies))}):
        (command,) = [one for one in split_assignment(line)[0].split(" | ") if one.startswith(PROGRAMS)]
        yield pytest.param(command, True, id=f"--help: {line[:60]}")


def help_examples(command):
    """What the help of a command, and of those below it, gives as examples."""
    yield from re.findall(r"^ *- `([^`]+)`", command.help or "", flags=re.M)
    for one in getattr(command, "commands", {}).values():
        yield from help_examples(one)


def arguments_of(words):
    """The words of a line behind the program, and whether that is the studies."""
    of_studies = words[:3] == ["python", "-m", "dsna_studies"]
    return words[3 if of_studies else 1 :], of_studies


def command_of(line):
    words, of_studies = arguments_of(words_of(line))
    command = typer.main.get_command(studies if of_studies else app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("line, whole", list(parsed_lines()))
def test_the_command_takes_the_line(line, whole, monkeypatch):
    """Options are there and take the values; of a line in the text, which may be cut short, some may be missing."""
    command, words = command_of(line)
    if hasattr(command, "commands"):
        assert not words or words == ["--help"] or words == ["--version"], f"no such command: {words}"
        return
    monkeypatch.setattr(command, "callback", lambda **values: None)  # parsed, but not run
    try:
        command.main(words, prog_name="dsna", standalone_mode=False)
    except Exception as error:
        if whole or type(error).__name__ not in _CUT_SHORT:
            raise


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a line in an empty folder, and gives what it printed; all lines of a test share the folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda address: True)

    def run(line, requests=()):
        command, variables = split_assignment(line)
        words = words_of(command)
        make_inputs(words, tmp_path)
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            if words[:2] == ["dsna", "serve"]:
                words += ["--port", "0"]  # the last one counts
                patch.setattr("uvicorn.Server.run", while_served(requests, tmp_path))
                patch.setattr("os._exit", sys.exit)  # the process that ends here is that of the tests
            arguments, of_studies = arguments_of(words)
            patch.setattr("sys.argv", ["dsna", *arguments])
            with pytest.raises(SystemExit) as end:
                (study_main if of_studies else main)()
        printed = capsys.readouterr()
        assert end.value.code in (0, None), f"{line}\n{printed.out}{printed.err}"
        return printed.out

    return run


def while_served(requests, folder):
    """In place of the loop of a server until Ctrl-C: it runs in a thread while requests are sent."""
    import httpx
    import uvicorn

    loop = uvicorn.Server.run

    def run(server, sockets):
        thread = threading.Thread(target=loop, args=(server, sockets), daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        try:
            for line in requests:
                words = words_of(split_assignment(line)[0])
                make_inputs(words, folder)
                sent = request_of(words)
                sent["url"] = re.sub("^http://[^/]+", address, sent["url"])
                answer = httpx.request(**sent, timeout=60)
                assert answer.status_code == 200, f"{line} answered {answer.status_code}: {answer.text}"
                print(answer.text)
        finally:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            server.should_exit = True
            thread.join(30)

    return run


def run_page(page, run):
    """Run the lines of a page in their order, and give what each printed."""
    lines = [line for line in command_lines(page) if reason_not_to_run(line) is None]
    printed = {}
    while lines:
        line = lines.pop(0)
        requests = []
        while lines and lines[0].startswith("curl "):
            requests.append(lines.pop(0))
        printed[line] = run(line, requests)
    return printed


FIRST_PAGE = ROOT / "docs" / "start" / "table.md"
SERVE_PAGE = ROOT / "docs" / "howto" / "save_and_serve.md"


@pytest.mark.parametrize(
    "page",
    [
        page for page in PAGES
        if page not in (FIRST_PAGE, SERVE_PAGE) and not all(map(reason_not_to_run, command_lines(page)))
    ],
    ids=name_of,
)  # fmt: skip
def test_the_examples_of_a_page_run_in_their_order(page, run):
    assert run_page(page, run)


def test_a_served_model_answers_the_requests_of_its_page(run):
    served, larger, for_others = run_page(SERVE_PAGE, run).values()
    assert '"body_mass":"number"' in served
    assert "\n111,P" in served  # the last of the new patients, in a table
    assert '{"answers":[{"prediction":"no","probabilities":{"no":' in served
    assert "http://127.0.0.1:" in larger
    assert '"country":"category"' in for_others


JSON = "-H 'Content-Type: application/json'"


@pytest.mark.parametrize(
    "options, path, status, word",
    [
        ("", "/api/models", 404, "page"),
        ("", "/api/predict", 405, "method"),
        ("-F file=@new.csv", "/api/predict", 422, "Remedy"),
        ("-F table=@new.csv", "/table.csv", 422, "file"),
        (JSON + " -d '{rows}'", "/api/predict", 422, "JSON"),
        (JSON + " -d '{}'", "/api/predict", 422, "rows"),
        (JSON + """ -d '{"rows": [{"amount": 120}]}'""", "/api/predict", 422, "country"),
        (JSON + """ -d '{"rows": [{"amount": 1, "country": "NO"}], "costs": "20"}'""", "/api/predict", 422, "20:1"),
        ("-H 'Host: evil.example'", "/api/model", 421, "--name"),
    ],
)
def test_requests_that_differ_from_those_of_the_page_are_refused_in_a_sentence(options, path, status, word, run):
    with pytest.raises(AssertionError) as refused:
        run("dsna serve fraud.dsna", [f"curl {options} http://127.0.0.1:8000{path}"])
    answer = str(refused.value).partition(" answered ")[2]
    assert answer.startswith(f'{status}: {{"error":"')
    assert word in answer


def test_an_option_of_curl_that_is_not_translated_is_an_error():
    with pytest.raises(ValueError, match="curl --insecure"):
        request_of(words_of("curl --insecure http://127.0.0.1:8000/"))


def test_lines_that_are_not_run_are_listed_with_a_reason_each():
    lines = [line for page in PAGES for line in command_lines(page)]
    assert [begin for begin in NOT_RUN if not any(line.startswith(begin) for line in lines)] == []
    rest = [split_assignment(line)[0] for line in lines if reason_not_to_run(line) is None]
    assert [line for line in rest if not line.startswith((*PROGRAMS, "curl "))] == []
    assert len(rest) > 35
    assert [name for name in FILES if not any(name in line for line in lines)] == []


def test_the_commands_of_the_first_page_do_what_it_says(run):
    """From the tables that `dsna demo` leaves: train, predict, explain, other decisions, what the model is."""
    printed = list(run_page(FIRST_PAGE, run).values())[1:]
    assert len(printed) == 6
    shown = re.findall(r"^```text\n(.*?)^```", FIRST_PAGE.read_text(encoding="utf-8"), re.S | re.M)
    assert len(shown) == 2
    for block in shown:
        assert shape_of(block) in shape_of(printed[0])
    assert "20 of 331 rows are yes" in printed[0]
    assert "'patient' is left out" in printed[0]
    severe = {name: answers(Path(name)).count("yes") for name in ("answers.csv", "careful.csv", "sure.csv")}
    assert severe["careful.csv"] > severe["answers.csv"] > severe["sure.csv"] > 0, severe
    assert "weight" in printed[2]
    assert {path.name for path in Path().iterdir()} >= {"severe.dsna", "page.html"}


def answers(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [row["prediction"] for row in csv.DictReader(file)]
