"""The driver that all studies share: order of work, resuming, failures, pages."""

import pandas as pd
import pytest

from dsna import DSNAError
from dsna_studies.results_file import Layout, load_results
from dsna_studies.study import Study, StudyOptions, run_study

LAYOUT = Layout(key=("method",), values=("score",))


class Squares(Study):
    """Scores of some methods; remembers what was run, and fails on request."""

    layout = LAYOUT
    broken = ()

    def __init__(self, options, with_page=True):
        super().__init__(options)
        self.ran, self.with_page = [], with_page

    @property
    def page(self):
        return self.options.out / "squares.md" if self.with_page else None

    def prepare(self, say):
        if not self.options.data.is_dir():
            raise DSNAError("no data")

    def keys(self):
        return [(method,) for method in ("a", "b", "c")]

    def run(self, left):
        for (method,) in left:
            self.ran.append(method)
            if method in self.broken:
                yield {"method": method, "error": "no luck"}
            else:
                yield {"method": method, "score": len(self.ran) ** 2}

    def describe(self, row):
        return row["method"]

    def report(self, results, say):
        say(f"{len(results)} scores")
        return ["# Squares", ", ".join(results["method"])]


@pytest.fixture
def options(tmp_path):
    (tmp_path / "data").mkdir()
    return StudyOptions(tmp_path / "data", tmp_path / "out")


def test_results_page_and_messages(options):
    said = []
    assert run_study(Squares(options), said.append) == 0
    assert load_results(options.results, LAYOUT)["score"].tolist() == [1, 4, 9]
    page = options.out / "squares.md"
    assert page.read_text(encoding="utf-8") == "# Squares\n\na, b, c\n"
    assert said == [f"0 of 3 results are in {options.results} already.", "3 scores", f"Page: {page}"]


def test_only_what_is_missing_is_run(options):
    run_study(Squares(options), lambda text: None)
    lines = options.results.read_text(encoding="utf-8").splitlines(keepends=True)
    options.results.write_text("".join(lines[:-1]))
    again = Squares(options)
    assert run_study(again, lambda text: None) == 0
    assert again.ran == ["c"]


def test_redo_runs_everything_again(options):
    run_study(Squares(options), lambda text: None)
    again = Squares(StudyOptions(options.data, options.out, redo=True))
    run_study(again, lambda text: None)
    assert again.ran == ["a", "b", "c"]
    assert len(load_results(options.results, LAYOUT)) == 3


def test_failures_are_named_and_the_rest_is_stored(options, capsys):
    study = Squares(options)
    study.broken = ("b",)
    assert run_study(study, lambda text: None) == 1
    assert load_results(options.results, LAYOUT)["method"].tolist() == ["a", "c"]
    assert "failed: b: no luck (1 times)" in capsys.readouterr().err
    assert "- b: no luck (1 times)" in (options.out / "squares.md").read_text(encoding="utf-8")


def test_nothing_is_written_where_data_cannot_be_used(tmp_path):
    study = Squares(StudyOptions(tmp_path / "gone", tmp_path / "out"))
    with pytest.raises(DSNAError, match="no data"):
        run_study(study, lambda text: None)
    assert not (tmp_path / "out").exists()


def test_nothing_is_run_where_results_or_page_have_no_place(options):
    (options.out / "squares.md").mkdir(parents=True)
    study = Squares(options)
    with pytest.raises(DSNAError, match=r"squares\.md: a folder, but a file is needed"):
        run_study(study, lambda text: None)
    assert study.ran == []


def test_a_study_without_a_page(options):
    assert run_study(Squares(options, with_page=False), lambda text: None) == 0
    assert [path.name for path in options.out.iterdir()] == ["results.csv"]


def test_rows_without_a_key_only_show_progress(options):
    class Noisy(Squares):
        def run(self, left):
            yield {"step": 1, "method_name": "a"}
            yield from super().run(left)

        def describe(self, row):
            return row.get("method", "a step")

    run_study(Noisy(options), lambda text: None)
    pd.testing.assert_series_equal(
        load_results(options.results, LAYOUT)["method"], pd.Series(["a", "b", "c"], name="method")
    )
