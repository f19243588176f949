"""The package as it is installed: how long it takes to come, its types, its pages and notebooks."""

import importlib.metadata
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import tcq
from tcq import _tcq

ROOT = Path(__file__).parents[2]
IMPORT = "import time; begin = time.perf_counter(); import tcq; print(time.perf_counter() - begin)"


def test_import_takes_less_than_50_ms():
    times = [float(subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True).stdout)
             for _ in range(7)]
    assert min(times) < 0.05, times
    loaded = subprocess.run([sys.executable, "-c", "import sys, tcq; print('numpy' in sys.modules)"], check=True,
                            capture_output=True, text=True).stdout
    assert loaded.strip() == "False"


def test_versions_are_the_projects():
    project = re.search(r"project\(tcq VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert project and tcq.__version__ == project.group(1) == importlib.metadata.version("tcq")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", tcq.evidence)


def test_everything_has_types_and_a_sentence():
    folder = Path(tcq.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_tcq.pyi").read_text()
    for name in dir(_tcq):
        if not name.startswith("__"):
            assert re.search(rf"\b{name}\b", stub), name
    for name in tcq.__all__:
        thing = getattr(tcq, name)
        if inspect.isfunction(thing):
            assert thing.__doc__ and "return" in thing.__annotations__, name


def test_every_verb_is_a_function():
    other = {"mma": "mma_lines"}
    for verb in _tcq.verbs():
        assert callable(getattr(tcq, verb)) and callable(getattr(tcq, other.get(verb, verb))), verb


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs" / "notebooks").glob("*.py")), ids=lambda p: p.stem)
def test_notebooks_run(notebook, capsys):
    runpy.run_path(str(notebook))
    assert capsys.readouterr().out


def test_the_page_prints_what_stands_below_its_lines():
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    lines = []
    for block in blocks:
        lines += block.splitlines()
    import doctest

    test = doctest.DocTestParser().get_doctest("\n".join(lines) + "\n", {}, "python.md", None, 0)
    assert len(test.examples) >= 12
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test).failed == 0
