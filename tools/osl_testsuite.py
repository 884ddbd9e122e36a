# SPDX-License-Identifier: Apache-2.0
"""Runs OSL's own testsuite on Isophote; see tools/osl_testsuite.

A folder of the suite holds shaders, run.py (Python that sets `command`, `outputs` and tolerances by calling oslc(),
testshade() and the like) and ref/, what the commands print and draw. Where there is no ref/ (in most folders *-reg), OSL
compares two of its own ways to run shaders; here the engine is compared with `interp`, and `interp` with `ir`. Verdicts:

    same      every output is one of ref/, byte for byte; images within the folder's own tolerance
    digits    the texts differ only in numbers, by at most one part in 10^4 or 10^-6: the last digits printed
    warned    the same but for what the compilers warn of, and in which words (asl.md section 22)
    refused   the same files compile and the same ones fail; only the words of messages differ (asl.md section 22)
    design    differs, or cannot run, for the reason that tools/osl_testsuite.txt has for it
    agrees    listed there, and yet the same: the line is out of date
    differs   anything else
    not run   the folder needs a program or a feature that Isophote does not have
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tiff

NUMBER = re.compile(r"(?<![A-Za-z_0-9.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan)(?![A-Za-z_])")
# A warning of ours (its place has a column) or of OSL's, and the lines that belong to it: the source, a caret and a hint, or lists.
WARNING = re.compile(r"^[^\s:]+:\d+:\d+: (?:warning|note): .*\n.*\n +\^.*\n(?: +hint: .*\n)?|^[^\s:]+:\d+: warning: .*\n(?:  .*\n)*", re.M)
SEVERITY = ["same", "digits", "warned", "refused", "agrees", "design", "differs", "not run"]


class Unreadable(Exception):
    """A run.py that does not run here."""


class Missing(Exception):
    """The folder calls a program that Isophote has no counterpart of."""


def read_rules(path, isophote, engine):
    """Executes run.py with the names that OSL's runtest.py gives it."""
    append = " >> out.txt 2>&1 ;\n"

    def missing(program):
        def call(*_args, **_named):
            raise Missing(program)
        return call

    def oslc(args):
        return f"{isophote} aslc {rules['oslcargs']} {args}{append}"

    def testshade(args):
        return f"{isophote} shade --engine {engine} {args}{append}"

    def oslinfo(args):
        return f"{isophote} aslc --info {args}{append}"

    rules = {
        "command": "", "outputs": ["out.txt"], "failureok": 0, "failthresh": 0.004, "hardfail": 0.01,
        "failpercent": 0.02, "oslcargs": "", "compile_osl_files": True, "splitsymbol": ";", "filter_re": None,
        "srcdir": ".", "tmpdir": ".", "path": "../..", "refdir": "ref/", "failed": None, "parent": "../../../../../",
        "test_source_dir": str(path.parent), "image_extensions": [".tif", ".exr", ".png"],
        "oslc": oslc, "testshade": testshade, "oslinfo": oslinfo, "oiiodiff": lambda *a, **k: "",
        "os": os, "sys": sys, "glob": __import__("glob"), "shutil": shutil, "platform": __import__("platform"),
    }
    for name in ("oiiotool", "maketx", "testrender", "testoptix", "testminimal", "run_app", "osl_app", "oiio_app"):
        rules[name] = missing(name)
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), rules)
    except Missing:
        raise
    except Exception as e:  # names and modules of a newer suite, whatever they are: the other folders still run
        raise Unreadable(f"{type(e).__name__}: {e}") from e
    return rules


def run_folder(source, work, isophote, engine, limit):
    """Lays the folder out in `work`, compiles its shaders, runs its commands. Returns run.py's names."""
    shutil.copytree(source, work, ignore=shutil.ignore_patterns("ref"))
    (work / "data").symlink_to(source)  # OSL's runtest.py makes it, and newer run.py name their groups and images by it
    common = source.parent / "common"
    if common.is_dir() and not (work.parent / "common").exists():
        (work.parent / "common").symlink_to(common.resolve())
    before = os.getcwd()
    os.chdir(work)
    try:
        rules = read_rules(work / "run.py", isophote, engine)
        command = rules["command"]
        if rules["compile_osl_files"]:
            command = "".join(rules["oslc"](f.name) for f in sorted(work.glob("*.osl"))) + command
        (work / "out.txt").write_text("")
        for one in command.split(rules["splitsymbol"]):
            if one.strip():
                status = subprocess.run(one, shell=True, timeout=limit, check=False, stdin=subprocess.DEVNULL).returncode
                if status and not rules["failureok"]:
                    rules["failed"] = one.strip()
                    break
    finally:
        os.chdir(before)
    for image in (source / "ref").glob("out.*"):
        if image.name not in rules["outputs"] and image.suffix in (".tif", ".exr"):
            rules["outputs"].append(image.name)
    return rules


# ---- comparing ------------------------------------------------------------------------------------------------------

def plain(text, only):
    """Ours compile to .aso, OSL's to .oso; a line's trailing blanks say nothing. only: of lines that match, as run.py asks."""
    text = text.replace("\r\n", "\n").replace(".aso", ".oso")
    return [line.rstrip() for line in text.split("\n") if only is None or re.search(only, line)]


def close(a, b):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    return x == y or x != x and y != y or abs(x - y) <= max(1e-6, 1e-4 * max(abs(x), abs(y)))


def compiled(lines):
    return [line for line in lines if line.startswith(("Compiled ", "FAILED "))]


def unwarned(lines):
    return WARNING.sub("", "\n".join(lines)).split("\n")


def compare_lines(ours, theirs):
    if ours == theirs:
        return "same"
    if unwarned(ours) != ours or unwarned(theirs) != theirs:
        verdict = compare_lines(unwarned(ours), unwarned(theirs))
        return "warned" if verdict in ("same", "digits") else verdict
    if len(ours) == len(theirs) and all(
            NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(map(close, NUMBER.findall(a), NUMBER.findall(b)))
            for a, b in zip(ours, theirs)):
        return "digits"
    if any(line.startswith("FAILED ") for line in theirs) and compiled(ours) == compiled(theirs):
        return "refused"
    return "differs"


def compare_images(ours, theirs, rules):
    """idiff's rule: few pixels may be off by more than failthresh, none by more than hardfail."""
    try:
        a, b = tiff.read(ours), tiff.read(theirs)
    except (OSError, tiff.Unreadable) as e:
        return "not run", f"{ours.name}: {e}"
    if a.shape != b.shape:
        return "differs", f"{ours.name}: {a.shape} and {b.shape}"
    width, height, channels = a.shape
    worst, beyond = 0.0, 0
    for i in range(0, len(a.values), channels):
        error = max(abs(x - y) if x == x or y == y else 0.0
                    for x, y in zip(a.values[i:i + channels], b.values[i:i + channels]))
        worst = max(worst, error if error == error else float("inf"))
        beyond += not error <= rules["failthresh"]
    if worst <= rules["hardfail"] and beyond * 100 <= rules["failpercent"] * width * height or worst == 0:
        return "same", ""
    return "differs", f"{ours.name}: {beyond} of {width * height} pixels beyond {rules['failthresh']}, the worst by {worst:g}"


def compare_output(name, work, references, rules):
    """The best verdict against any of the references, as OSL's runtest.py takes it."""
    ours, suffix = work / name, pathlib.Path(name).suffix
    if not references:
        return "not run", f"ref/ has no {suffix}"
    if not ours.exists():
        return "differs", f"{name} was not written"
    best, note = "not run", ""
    for r in references:
        if suffix in (".txt", ".d"):
            mine, its = (plain(p.read_text(encoding="utf-8", errors="replace"), rules["filter_re"]) for p in (ours, r))
            verdict, why = compare_lines(mine, its), ""
            if verdict != "same" and r == references[0]:
                why = "\n".join(difflib.unified_diff(its, mine, f"{r.parent.name}/{r.name}", name, lineterm="", n=1))
        elif suffix == ".tif":
            verdict, why = compare_images(ours, r, rules)
        else:
            verdict, why = ("same" if ours.read_bytes() == r.read_bytes() else "differs"), name
        if r == references[0] or SEVERITY.index(verdict) < SEVERITY.index(best):
            best, note = verdict, why or note
    return best, note if best != "same" else ""


def find_references(name, source, baseline):
    """Files of ref/ of the output's kind, its namesake first. baseline: where another engine ran, in the place of a ref/."""
    if baseline:
        return [baseline / name] if (baseline / name).exists() else []
    return sorted((source / "ref").glob("*" + pathlib.Path(name).suffix), key=lambda p: (p.name != name, p.name))


def judge_folder(source, work, isophote, engine, limit):
    baseline = None if (source / "ref").is_dir() else work.with_name(work.name + ".baseline")
    try:
        rules = run_folder(source, work, isophote, engine, limit)
        if baseline:
            run_folder(source, baseline, isophote, "ir" if engine == "interp" else "interp", limit)
    except Missing as e:
        return "not run", f"needs {e}"
    except Unreadable as e:
        return "not run", f"run.py: {e}"
    except subprocess.TimeoutExpired:
        return "differs", f"more than {limit} s"
    if baseline and rules["failed"]:  # both engines fail alike
        return "differs", f"failed: {rules['failed']}"
    worst, notes = "same", []
    for name in rules["outputs"]:
        verdict, note = compare_output(name, work, find_references(name, source, baseline), rules)
        if note:
            notes.append(note)
        if SEVERITY.index(verdict) > SEVERITY.index(worst):
            worst = verdict
    return worst, "\n".join(notes)


def read_designs():
    """tools/osl_testsuite.txt: a folder, then why its output differs on purpose."""
    designs = {}
    path = pathlib.Path(__file__).with_suffix(".txt")
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        words = line.split(None, 1)
        if len(words) == 2 and not line.startswith("#"):
            designs[words[0]] = words[1]
    return designs


def main():
    a = argparse.ArgumentParser(prog="tools/osl_testsuite", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    a.add_argument("suite", type=pathlib.Path, help="the folder testsuite/ of OSL's sources")
    a.add_argument("folders", nargs="*", help="only these folders (shell patterns; default: all that have a run.py)")
    a.add_argument("--isophote", default="build/release/isophote", type=pathlib.Path)
    a.add_argument("--engine", default="interp", help="what runs the shaders (default: interp)")
    a.add_argument("--diff", action="store_true", help="show how outputs differ")
    a.add_argument("--keep", type=pathlib.Path, help="keep what the commands wrote there")
    a.add_argument("--table", type=pathlib.Path, help="write the verdicts as a Markdown table")
    a.add_argument("--timeout", type=float, default=120, help="seconds for one command")
    o = a.parse_args()
    if not o.suite.is_dir() or not o.isophote.is_file():
        print(f"{o.suite}: expected OSL's testsuite/, and {o.isophote}: the program", file=sys.stderr)
        return 2
    found = sorted(d for d in o.suite.iterdir() if (d / "run.py").is_file()
                   and (not o.folders or any(d.match(p.rstrip("/")) for p in o.folders)))
    root = pathlib.Path(tempfile.mkdtemp(prefix="osl_testsuite."))
    designs, rows = read_designs(), []
    for source in found:
        verdict, note = judge_folder(source.resolve(), root / source.name, o.isophote.resolve(), o.engine, o.timeout)
        if source.name in designs:
            verdict, note = ("design" if verdict in ("differs", "not run") else "agrees"), designs[source.name]
        rows.append((source.name, verdict, note))
        brief = note if o.diff or verdict in ("agrees", "design", "not run") else ""
        print(f"{source.name:32} {verdict}" + (f": {brief}" if brief and "\n" not in brief else ""), flush=True)
        if "\n" in brief:
            print(brief, flush=True)
    counts = {v: sum(row[1] == v for row in rows) for v in SEVERITY}
    print(", ".join(f"{n} {v}" for v, n in counts.items()) + f" of {len(rows)} folders")
    if o.table:
        o.table.write_text("| folder | verdict | note |\n|---|---|---|\n" + "".join(
            f"| {f} | {v} | {n.splitlines()[0] if n and v != 'differs' else ''} |\n" for f, v, n in rows))
    if o.keep:
        shutil.rmtree(o.keep, ignore_errors=True)
        shutil.copytree(root, o.keep, symlinks=True)
    shutil.rmtree(root)
    if len(rows) == counts["not run"]:
        return 77
    return 1 if counts["differs"] or counts["agrees"] else 0


if __name__ == "__main__":
    sys.exit(main())
