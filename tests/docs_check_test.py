# SPDX-License-Identifier: Apache-2.0
"""docs_check_test.py DOCS_CHECK: what tools/docs_check finds, and what it lets pass, in pages made here."""
import importlib.machinery
import importlib.util
import io
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

sys.dont_write_bytecode = True
tool = sys.argv.pop(1)
loader = importlib.machinery.SourceFileLoader("docs_check", tool)
docs_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("docs_check", loader))
loader.exec_module(docs_check)


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = docs_check.ROOT = Path(self.folder.name).resolve()
        (self.root / "docs").mkdir()
        (self.root / "build-here").mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def page(self, text, name="docs/page.md"):
        (self.root / name).write_text(text, encoding="utf-8")
        return Path(name)

    def check(self, what, *arguments):
        with redirect_stdout(io.StringIO()) as out:
            findings = what(*arguments)
        return findings, out.getvalue()

    def style(self, text):
        return self.check(docs_check.style, [self.page(text)], False)[0]

    def links(self, text):
        return self.check(docs_check.links, [self.page(text)])[0]

    def run_page(self, text):
        return self.check(docs_check.run_page, self.page(text), self.root / "build-here", [0, 0, 0])

    def finds(self, findings, *texts):
        self.assertEqual(len(findings), len(texts), findings)
        for finding, text in zip(findings, texts):
            self.assertIn(text, finding)

    def test_sentences(self):
        self.finds(self.style("word " * 39 + "end.\n\n"), "a line of")
        forty_one = "\n".join(["word " * 10] * 4).strip()
        self.finds(self.style(forty_one + "\nend.\n"), "a sentence of 41 words")
        self.finds(self.style(forty_one + "\nword. A next one.\n"), "a sentence of 41 words")
        self.finds(self.style(forty_one[:-5] + ". A next one.\n"))
        self.finds(self.style("| " + "word " * 50 + "|\n|---|\n"))
        self.finds(self.style("- " + "\n- ".join(["word " * 12] * 6)))  # items are sentences of their own
        long = "A sentence of as many words as this one has, which makes eighteen of them, is too long here. "
        self.finds(self.style("\n".join([long.strip()] * 5)), "the median sentence")

    def test_lines(self):
        self.finds(self.style("- [link](https://example.org/" + "x" * 100 + ")\n"))
        self.finds(self.style("see [link](https://example.org/" + "x" * 100 + ")\n"), "a line of")
        self.finds(self.style("```text\n" + "x " * 100 + "\n```\n"))

    def test_empty_lines(self):
        self.finds(self.style("Text:\n- an item\n"), "an empty line before a list")
        self.finds(self.style("Text:\n\n- an item\n- and one\n  that goes on\n"))
        self.finds(self.style("Text:\n| a |\n|---|\n"), "an empty line before a table")

    def test_code(self):
        self.finds(self.style("Text:\n\n    indented code\n    and more\n"), "code by indentation")
        self.finds(self.style("- item\n\n    a second paragraph of it\n"))
        self.finds(self.style("```\nx\n```\n"), "without a language")
        self.finds(self.style("```bash\nx\n```\n"), "sh, not bash")
        self.finds(self.style("```text\nbuild/release/isophote devices\n```\n"), "nobody runs")

    def test_links(self):
        self.page("# A heading, with words\n\n## 1. Numbered `code`\n\n## A / B\n\n## Same\n\n## Same\n", "docs/other.md")
        self.finds(self.links("[a](other.md#a-heading-with-words) [b](other.md#1-numbered-code) ![c](../docs/other.md) [d](https://x.org)"))
        self.finds(self.links("[a](gone.md)"), "leads nowhere")
        self.finds(self.links("![a](gone.png)"), "leads nowhere")
        self.finds(self.links("[a](other.md#gone)"), "no such heading")
        self.finds(self.links("[a](other.md#a--b)"), "name that heading differently")
        self.finds(self.links("[a](../../etc)"), "leads nowhere")
        self.finds(self.links("`docs/other.md:12`, `docs/other.md`, `other.md`, `no/path`, `docs/NAME`"))
        self.finds(self.links("`docs/gone.c`"), "there is no docs/gone.c")
        self.finds(self.links("```text\n[a](gone.md)\n```\n`[a](gone.md)`"))

    def test_run(self):
        block = "```sh\n%s\n```\n```output\n%s\n```\n"
        findings, said = self.run_page(block % ("x=3; echo a 1.5 b", "a <number> b") + block % ("echo $x", "3"))
        self.finds(findings)
        self.assertIn("2 of 2 blocks run, 2 outputs compared, 0 not run", said)
        for shown in ("1\n2\n3", "...\n3", "1\n...", "1\n...\n3", "...", "1\n...\n2\n...\n3\n...", "...\n..."):
            self.finds(self.run_page(block % ("printf '1\\n2\\n3\\n'", shown))[0])
        for shown, why in (("1\n2", "more is printed"), ("1\n3", "no line fits"), ("...\n2", "more is printed"),
                           ("1\n2\n3\n4", "no line fits"), ("2\n...", "no line fits"), ("1\n.\n3", "no line fits")):
            self.finds(self.run_page(block % ("printf '1\\n2\\n3\\n'", shown))[0], why)
        self.finds(self.run_page(block % ("echo a z", "a <number>"))[0], "no line fits")
        self.finds(self.run_page(block % ("echo error >&2", "error"))[0])

    def test_status(self):
        findings, said = self.run_page("```sh\nfalse\n```\n```sh\ntouch ../after\n```\n")
        self.finds(findings, "docs/page.md:1: the commands end with status 1")
        self.assertIn("0 of 2 blocks run", said)
        self.finds(self.run_page("```sh\nfalse | cat\n```\n")[0], "status 1")
        self.finds(self.run_page("<!-- exit status 7 -->\n```sh\nsh -c 'exit 7'\n```\n```sh\ntrue\n```\n")[0])
        self.finds(self.run_page("<!-- exit status 7 -->\n```sh\ntrue\n```\n")[0], "not 7")
        self.finds(self.run_page("```sh\nexit 0\n```\n```sh\ntrue\n```\n")[0], "the commands end")

    def test_not_run(self):
        findings, said = self.run_page("<!-- not run: needs a GPU -->\n```sh\nfalse\n```\n```output\nx\n```\n"
                                       "<!-- run if: false -->\n```sh\nfalse\n```\n<!-- run if: true -->\n```sh\ntrue\n```\n")
        self.finds(findings)
        self.assertIn("1 of 1 blocks run, 0 outputs compared, 2 not run", said)
        self.assertIn("needs a GPU", said)
        self.finds(self.run_page("```output\nx\n```\n")[0], "output of no command")

    def test_scratch(self):
        self.page("here", "docs/there.md")
        self.finds(self.run_page("```sh\ntest -f docs/there.md; test -d build/release; echo x >out/y; ls out\n```\n"
                                 "```output\ny\n```\n")[0])
        self.assertFalse((self.root / "out").exists())


unittest.main()
