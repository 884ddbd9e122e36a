# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs.yml: what the pages of docs/ link to outside docs/ comes into the site, below source/.

Text that is not Markdown becomes a plain file there; a Markdown page becomes a page. A link to a folder goes to its
README.md, or is text where it has none."""
import os
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(\]\(\s*)([^)\s#]+)((?:#[^)\s]*)?[^)]*\))")
FENCE = re.compile(r"(^[ ]*```.*?^[ ]*```[ ]*$|`[^`\n]+`)", re.M | re.S)


def source_of(uri):
    """The file in the repository that a page or file of the site comes from."""
    return ROOT / uri[len("source/"):] if uri.startswith("source/") else DOCS / uri


def target_of(source, link):
    """The file in the repository that a link means; None for one to elsewhere, or to a folder without a page."""
    if re.match(r"[a-z]+:|/", link):
        return None
    to = (source.parent / link).resolve()
    if to.is_dir() and (to / "README.md").is_file():
        to = to / "README.md"
    return to if to.is_file() and to.is_relative_to(ROOT) else None


def prose(text):
    """The pieces of a page that are no code."""
    return [piece for n, piece in enumerate(FENCE.split(text)) if n % 2 == 0]


def on_files(files, config):
    waiting = [f.src_uri for f in files if f.src_uri.endswith(".md")]
    while waiting:
        source = source_of(waiting.pop())
        for piece in prose(source.read_text(encoding="utf-8")):
            for link in LINK.finditer(piece):
                to = target_of(source, link[2])
                if not to or to.is_relative_to(DOCS):
                    continue
                uri = "source/" + to.relative_to(ROOT).as_posix()
                if files.get_file_from_path(uri):
                    continue
                file = File(uri, str(ROOT), config["site_dir"], config["use_directory_urls"])
                file.abs_src_path = str(to)
                files.append(file)
                if uri.endswith(".md"):
                    waiting.append(uri)
    return files


def on_page_markdown(markdown, page, config, files):
    source = source_of(page.file.src_uri)

    def site_link(link):
        if re.match(r"[a-z]+:|/|#", link[2]):
            return link[0]
        to = target_of(source, link[2])
        if not to:
            return "]" if (source.parent / link[2]).is_dir() else link[0]  # of a folder without a page the text is left
        uri = to.relative_to(DOCS).as_posix() if to.is_relative_to(DOCS) else "source/" + to.relative_to(ROOT).as_posix()
        return link[1] + os.path.relpath(uri, os.path.dirname(page.file.src_uri) or ".") + link[3]

    pieces = FENCE.split(markdown)
    return "".join(LINK.sub(site_link, piece) if n % 2 == 0 else piece for n, piece in enumerate(pieces))


def on_post_build(config):
    """Every page needs only what is in the site: no script or style that is missing, none from the network."""
    site = Path(config["site_dir"])
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for wanted in re.findall(r'<(?:script|img)[^>]* src="([^"]+)"|<link[^>]* href="([^"]+)"', text):
            wanted = (wanted[0] or wanted[1]).split("?")[0]
            at = site / wanted[1:] if wanted.startswith("/") else page.parent / wanted
            if re.match(r"([a-z]+:)?//", wanted) or not at.exists():
                raise PluginError(f"{page.relative_to(site)} needs {wanted}, which is not in the site")
