"""Photos that nobody wants to meet: `dsna edges detect` works, or names file, problem and remedy in a sentence."""

import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from PIL import Image
from tests.edges.quick import ask, expect_exit, files
from tests.hostile_pictures import HOSTILE_PICTURES


@pytest.mark.parametrize("name", HOSTILE_PICTURES)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_photo_works_or_the_reason_is_reported(shipped, tmp_path, name):
    content, said = HOSTILE_PICTURES[name]
    (tmp_path / name).write_bytes(content)
    run = ask("detect", tmp_path / name, "-o", tmp_path / "map.png")
    if said is None:
        expect_exit(run, 0)
        photo = Image.open(tmp_path / name)
        turned = photo.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        assert Image.open(tmp_path / "map.png").size == (photo.size[::-1] if turned else photo.size)
        return
    message = expect_exit(run, 2)
    assert said in message
    assert f"{name}: " in message
    assert "Remedy: " in message
    assert len(message.splitlines()) == 1
    assert files(tmp_path) == [name]


def test_the_others_go_on(shipped, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, (content, _) in HOSTILE_PICTURES.items():
        (folder / f"{name.replace('.', '-')}.jpg").write_bytes(content)
    message = expect_exit(ask("detect", folder, "--out", tmp_path / "maps"), 1)
    bad = {name for name, (_, said) in HOSTILE_PICTURES.items() if said is not None}
    assert message.count("failed: ") == len(bad)
    assert {path.removesuffix(".png") for path in files(tmp_path / "maps")} == {
        name.replace(".", "-") for name in HOSTILE_PICTURES.keys() - bad
    }
