"""The GEMM's C interface from Python, without a GPU: structs as the header has them, errors, where the library is found."""

import ctypes
import os
import re
import subprocess
import sys

import pytest
from gemm_fake import SOURCES, Fake, compiled

from tcq import _gemm

HEADER = (SOURCES / "cuda/gemm/gemm_c.h").read_text()


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    return Fake(compiled(tmp_path_factory.mktemp("fake")))


def test_the_structs_lie_as_in_the_header(tmp_path):
    lines, expected = [], []
    for struct, name in ((_gemm.Problem, "tcq_gemm_problem"), (_gemm.Pointers, "tcq_gemm_pointers"),
                         (_gemm.Strides, "tcq_gemm_strides"), (_gemm.Quantizer, "tcq_gemm_quantizer")):
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(ctypes.sizeof(struct))
        for field, _ in struct._fields_:
            lines.append(f'printf("%zu\\n", offsetof({name}, {field.rstrip("_")}));')
            expected.append(getattr(struct, field).offset)
    source = tmp_path / "layout.c"
    source.write_text('#include <stdio.h>\n#include "cuda/gemm/gemm_c.h"\nint main(void) {' + "".join(lines) + "}")
    compiled(tmp_path)  # skips without a compiler
    subprocess.run(["cc", "-I", SOURCES, source, "-o", tmp_path / "layout"], check=True)
    said = subprocess.run([tmp_path / "layout"], capture_output=True, check=True, text=True).stdout
    assert [int(word) for word in said.split()] == expected


# In the header's order a name's place is its code; what is called another way in Python stands beside it.
CODES = {
    "type": (_gemm.TYPES, {}),
    "major": ({"k_major": _gemm.K_MAJOR, "mn_major": _gemm.MN_MAJOR}, {}),
    "activation": (_gemm.ACTIVATIONS, {"no_activation": "none"}),
    "scaling": (_gemm.SCALINGS, {"no_scaling": "none"}),
    "block_scaling": (_gemm.BLOCK_SCALINGS, {"no_block_scaling": "none"}),
    "grouping": (_gemm.GROUPINGS, {"no_groups": "none", "group_of_row": "row_ids"}),
    "quantize_block": (_gemm.QUANTIZE_BLOCKS, {}),
}


def test_the_codes_are_the_headers():
    found = re.findall(r"typedef enum \{(.*?)\} tcq_gemm_(\w+);", HEADER, re.S)
    enums = {name: re.findall(r"TCQ_GEMM_(\w+)", re.sub(r"/\*.*?\*/", "", body, flags=re.S)) for body, name in found}
    assert set(CODES) <= set(enums)
    for name, (codes, others) in CODES.items():
        words = [re.sub("^(scale|group|quantize)_", "", others.get(word.lower(), word.lower())) for word in enums[name]]
        assert {word: code for code, word in enumerate(words)} == codes
    for name in _gemm._FUNCTIONS:
        assert f"tcq_gemm_{name}(" in HEADER


def test_a_plan_lives_as_long_as_it_is_held(fake):
    problem = fake.library.problem()
    problem.m, problem.n, problem.k = 2, 3, 4
    before = fake.plans, fake.destroyed
    plan = _gemm.Plan(problem, fake.library)
    assert plan.describe() == "problem: 2x3x4\n"
    assert (fake.plans, fake.destroyed) == (before[0] + 1, before[1])
    del plan
    assert fake.destroyed == before[1] + 1


def test_what_a_workspace_is_for_is_asked_once_for_aligned_pointers(fake):
    problem = fake.library.problem()
    problem.m, problem.n, problem.k = 2, 3, 8
    plan, asked = _gemm.Plan(problem, fake.library), fake.asked
    aligned, others = _gemm.pointers(16, 32, 0, 48, 0), _gemm.pointers(18, 32, 0, 48, 0)
    assert [plan.workspace_bytes(x, x is aligned) for x in (aligned, others, aligned, others, aligned)] == [0, 128, 0, 128, 0]
    assert fake.asked == asked + 3


def test_what_the_library_refuses_is_its_sentence(fake):
    problem = fake.library.problem()
    problem.k = 666
    with pytest.raises(_gemm.GemmError, match="the fake refuses K = 666") as refused:
        _gemm.Plan(problem, fake.library)
    assert refused.value.status == 5


def test_plans_are_kept_by_key_and_the_oldest_goes():
    made = []
    plans = _gemm.Plans(maxsize=2)
    for key in "abacab":
        plans.get(key, lambda: made.append(key) or key)
    assert made == list("abcb")  # c drove b out, which had not been used since
    assert plans.info() == (2, 4, 2, 2)
    plans.clear()
    assert plans.info() == (0, 0, 2, 0)


def found(environment):
    code = "from tcq import _gemm\ntry:\n print(_gemm.library()._handle._name)\nexcept _gemm.LibraryNotFound as e: print('no:', e)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, **environment}).stdout.strip()


def test_the_library_is_found_by_the_variable_and_by_the_loader(fake, tmp_path):
    path = fake.library._handle._name
    nothing = {"TCQ_GEMM_LIBRARY": "", "LD_LIBRARY_PATH": ""}
    assert found({**nothing, "TCQ_GEMM_LIBRARY": path}) == path
    assert found({**nothing, "LD_LIBRARY_PATH": os.path.dirname(path)}) == "libtcq_gemm.so.0"
    assert "TCQ_GEMM_LIBRARY names /nowhere/x.so: " in found({**nothing, "TCQ_GEMM_LIBRARY": "/nowhere/x.so"})
    said = found(nothing)
    if not said.endswith(_gemm.SONAME):  # beside the package, or installed
        assert re.search("no TCQ_GEMM_LIBRARY is set, there is no .*libtcq_gemm.so.0, and the loader says", said)


def test_without_pytorch_the_module_says_so():
    code = "import sys\nsys.modules['torch'] = None\ntry:\n import tcq.torch\nexcept ImportError as e: print(e)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("tcq.torch needs PyTorch 2.4 or newer, `pip install torch`: ")


def test_a_library_that_lacks_a_function_is_none(tmp_path):
    compiled(tmp_path)
    (tmp_path / "other.c").write_text("int tcq_gemm_defaults(void) { return 0; }")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "other.so"], check=True)
    assert "tcq_gemm_sentence" in found({"TCQ_GEMM_LIBRARY": str(tmp_path / "other.so")})
