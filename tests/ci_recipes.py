# SPDX-License-Identifier: Apache-2.0
"""ci_recipes.py PROGRAM SOURCE: the shell of each step of the recipes in share/ci, run as their machines run it, twice: before and after there is a
last good run. What is not here (a package to install, a repository to clone) is a stub, and so is `isophote` in one regard: it
judges one case and renders small pictures. Exit status 77: no PyYAML.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

try:
    import yaml
except ImportError:
    print("SKIP: PyYAML is not here: apt-get install python3-yaml")
    sys.exit(77)

PROGRAM, SOURCE = (Path(a).resolve() for a in sys.argv[1:3])
RECIPES = SOURCE / "share/ci"
STUBS = {  # what is not here; the notes are read back below
    "apt-get": 'echo "apt-get $*" >>"$NOTES"; case " $* " in *" ./isophote"*) ls ./isophote_*.deb;; *" /tmp/isophote"*) ;; esac',
    "git": '[ "$1" = clone ] && for last; do :; done && mkdir -p "$last/tools" && cp "$STUBS/package" "$last/tools/package"',
    "package": 'echo "package $*" >>"$NOTES"; [ "$1" = /tmp ] || : >"$1/isophote_0.1.0_amd64.deb"',
    "rm": 'case "$*" in *" /tmp/"*|*" /var/"*) ;; *) exec /bin/rm "$@";; esac',  # of a container alone
    "isophote": 'case "$1" in conform) set -- "$@" --filter "$CASES";;'
    ' bench) set -- "$@" --width 16 --height 16 --spp 1 --repetitions 2 --max-repetitions 2;;'
    ' compare) echo compare >>"$NOTES"; exit "${COMPARED:-0}";; doctor) exit 0;; esac\nexec "$PROGRAM" "$@"',
}


def github(text):
    """Steps as (shell, whether it runs after a failure), environment, files that are kept."""
    recipe = yaml.safe_load(text)
    assert True in recipe, "`on` is YAML's true"
    (job,) = recipe["jobs"].values()
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step), step
        assert "${{" not in step.get("run", ""), "an expression in shell is not the shell that runs"
    kept = [s["with"]["path"].split() for s in job["steps"] if s.get("uses", "").startswith("actions/upload-artifact@")]
    steps = [(s["run"], s.get("if") == "always()") for s in job["steps"] if "run" in s]
    return steps, recipe["env"], kept[0], ["bash", "-e"]


def gitlab(text):
    recipe = yaml.safe_load(text)
    job = recipe["isophote"]
    assert "always" == job["artifacts"]["when"]
    steps = [(line, False) for line in job["before_script"] + job["script"]] + [(line, True) for line in job["after_script"]]
    kept = job["artifacts"]["paths"] + [job["artifacts"]["reports"]["junit"]]
    environment = {**recipe["variables"], "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
    return steps, environment, kept, ["sh", "-e"]


def jenkins(text):
    code = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    shell = re.compile(r"\bsh ('''|')(.*?)\1", re.S)
    bare = re.sub(r"'[^'\n]*'", "", shell.sub("", code))
    assert bare.count("{") == bare.count("}") and bare.lstrip().startswith("pipeline {"), "braces"
    always = code.index("always {")
    steps = [(m[2], m.start() > always) for m in shell.finditer(code)]
    environment = dict(re.findall(r"^\s*([A-Z_]+) = '(.*)'$", code, re.M))
    return steps, environment, re.findall(r"(?:junit|archiveArtifacts) '(.*)'", code), ["sh", "-xe"]


def container(text):
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.M)).splitlines()
    words = [line.split(None, 1) for line in lines if line.strip()]
    assert {w[0] for w in words} <= {"FROM", "COPY", "WORKDIR", "RUN", "ENTRYPOINT", "CMD"}, words
    assert words[0][0] == "FROM" and words[-1][0] == "CMD"
    return [(w[1], False) for w in words if w[0] == "RUN"], {}, [], ["sh", "-e"]


def run(steps, shell, folder, environment):
    """The statuses of the steps, as a CI runs them: after a failure only those that always run."""
    statuses = []
    for text, always in steps:
        if any(statuses) and not always:
            continue
        done = subprocess.run([*shell, "-c", text], cwd=folder, env=environment, text=True, capture_output=True)
        statuses.append(done.returncode)
        if done.returncode and "EXPECT_FAILURE" not in environment:
            raise AssertionError(f"the step\n{text}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return statuses


def check(name, read):
    steps, given, kept, shell = read((RECIPES / name).read_text())
    assert len(steps) >= 2
    with tempfile.TemporaryDirectory(prefix="isophote-ci-") as scratch:
        stubs, folder, notes = Path(scratch, "stubs"), Path(scratch, "work"), Path(scratch, "notes")
        stubs.mkdir()
        folder.mkdir()
        for tool, body in STUBS.items():
            (stubs / tool).write_text(f"#!/bin/sh\n{body}\n")
            (stubs / tool).chmod(0o755)
        (folder / "tools").mkdir()
        (folder / "tools/package").symlink_to(stubs / "package")  # of the Containerfile, whose folder is a source tree
        environment = {**os.environ, **{k: str(v) for k, v in given.items()}, "DEVICE": "native", "CASES": "^kernel[.]rng", "STUBS": str(stubs),
                       "NOTES": str(notes), "PROGRAM": str(PROGRAM), "PATH": f"{stubs}:{os.environ['PATH']}"}
        run(steps, shell, folder, environment)
        told = notes.read_text()
        assert told.count("package ") >= 1 and re.search(r"apt-get .*install.* \S*/isophote_\S*deb", told), told
        if not kept:
            return
        assert sorted(kept) == ["conform.xml", "report.html"]
        cases = xml.parse(folder / "conform.xml").getroot().findall(".//testcase")
        assert cases, "no case in conform.xml"
        assert "kernel.rng" in (folder / "report.html").read_text()
        assert "compare" not in told, "there was nothing to compare with"
        assert (folder / "baseline.db").exists(), "the last good run is not kept"

        # The second time there is a package and a last good run, which this one is compared with.
        for made in (*kept, "new.db"):
            (folder / made).unlink(missing_ok=True)
        run(steps, shell, folder, environment)
        told = notes.read_text()
        assert told.count("package ") == 1 and told.count("compare") == 1, told

        # What is slower, or wrong, fails; the report is made nevertheless, and the last good run stays.
        for fault in ({"COMPARED": "1"}, {"DEVICE": "faulty:lost-cosine", "CASES": "^image[.]strict[.]cornell$"}):
            for made in (*kept, "new.db"):
                (folder / made).unlink(missing_ok=True)
            before = (folder / "baseline.db").read_bytes()
            statuses = run(steps, shell, folder, {**environment, **fault, "EXPECT_FAILURE": "1"})
            assert 1 in statuses, (name, fault, statuses)
            assert all((folder / k).exists() for k in kept), (name, fault)
            assert (folder / "baseline.db").read_bytes() == before


RECIPE_READERS = {"github.yml": github, "gitlab.yml": gitlab, "Jenkinsfile": jenkins, "Containerfile": container}
assert {p.name for p in RECIPES.iterdir()} == set(RECIPE_READERS), "a recipe that no test reads"
for recipe, reader in RECIPE_READERS.items():
    check(recipe, reader)
    print(f"{recipe}: its steps run, and fail where they should")
