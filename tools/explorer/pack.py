"""Packs the page: pack.py MODULE OUTPUT. Style, scripts and the compressed module go into page.html."""
import base64
import gzip
import pathlib
import sys

LIMIT = 1_500_000  # bytes of the whole page

module, output = map(pathlib.Path, sys.argv[1:])
here = pathlib.Path(__file__).parent
script = "\n".join((here / name).read_text() for name in ("wasi.js", "grid.js", "explorer.js"))
packed = base64.b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode()
page = (here / "page.html").read_text()
for mark, text in (("/*STYLE*/", (here / "page.css").read_text()), ("/*SCRIPT*/", script), ("/*MODULE*/", packed)):
    page = page.replace(mark, text, 1)
if len(page.encode()) > LIMIT:
    sys.exit(f"the page has {len(page.encode())} bytes: expected at most {LIMIT}")
output.write_text(page)
