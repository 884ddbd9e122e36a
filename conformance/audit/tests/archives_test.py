#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""archives_test.py ISOPHOTE: true archives pass their audit, and each forged one is found, for the reason named.

Archives are taken apart and made again here, by Python's own tarfile and hashlib: also an independent reading of the format.
Exit status 77 without libxxhash, by which forgers make keys anew."""
import base64
import concurrent.futures
import ctypes
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

isophote = sys.argv[1]
failures = []
try:
    xxh = ctypes.CDLL("libxxhash.so.0")
except OSError:
    sys.exit(77)


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxh.XXH3_128bits.restype = Digest
xxh.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def key_of(kind, parts):
    data = b"".join(s.encode() + b"\0" for s in [kind] + [x for p in parts.items() for x in p])
    d = xxh.XXH3_128bits(data, len(data))
    return "%016x%016x" % (d.high, d.low)


# ---- the format, read again -----------------------------------------------------------------------------------------------


def tree(leaves):
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while 2 * left < len(leaves):
        left *= 2
    return hashlib.sha256(b"\1" + tree(leaves[:left]) + tree(leaves[left:])).digest()


def root_of(film):
    sums = base64.b64decode(film["sums"])
    leaves = [sums[i : i + 32] for i in range(0, len(sums), 32)]
    job = json.dumps(film["job"], separators=(",", ":"))
    text = f"isophote film 1\n{job}\ntile {film['tile']}\ntiles {len(leaves)}\ntree {tree(leaves).hex()}\n"
    return hashlib.sha256(text.encode()).hexdigest()


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def copy(value):
    return json.loads(dump(value))


def take(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers()}


def block(name, size, kind=b"0"):
    head = bytearray(512)
    head[: len(name)] = name.encode()
    head[100:124] = b"0000644\0000000000\0000000000\0"
    head[124:136] = b"%011o\0" % size
    head[136:148] = b"00000000000\0"
    head[148:156] = b" " * 8
    head[156:157] = kind
    head[257:265] = b"ustar\00000"
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def member(name, data, kind=b"0", size=None):
    return block(name, len(data) if size is None else size, kind) + data + bytes(-len(data) % 512)


ORDER = ["results.jsonl", "environment.json", "list.txt", "waivers.json", "skips.json", "journal.jsonl"]


def make(members, extra=b""):
    rows = [{"name": n, "bytes": len(members[n]), "sha256": hashlib.sha256(members[n]).hexdigest()} for n in ORDER if n in members]
    manifest = dump({"isophote_archive": 1, "members": rows}).encode() + b"\n"
    return member("manifest.json", manifest) + b"".join(member(n, members[n]) for n in ORDER if n in members) + extra + bytes(1024)


class Forgery:
    def __init__(self, data):
        self.members = take(data)
        self.lines = [json.loads(l) for l in self.members["results.jsonl"].decode().splitlines()]

    def of(self, type_, **wanted):
        return [l for l in self.lines if l["type"] == type_ and all(l[k] == v for k, v in wanted.items())]

    def one(self, type_, **wanted):
        return self.of(type_, **wanted)[0]

    def selection(self):
        return self.one("run")["selection"]

    def tile(self, film, sums):
        """Other sums, under a root that is theirs."""
        film["sums"] = base64.b64encode(bytes(sums)).decode()
        film["root"] = root_of(film)

    def rename(self, old, new):
        self.lines = [json.loads(l) for l in "\n".join(dump(l) for l in self.lines).replace(old, new).splitlines()]
        if "journal.jsonl" in self.members:
            self.members["journal.jsonl"] = self.members["journal.jsonl"].replace(old.encode(), new.encode())

    def rekey(self):
        """Keys anew of all parts that were edited, and wherever they are named."""
        for i in range(len(self.of("identity"))):
            row = self.of("identity")[i]
            self.rename(row["key"], key_of(row["kind"], row["parts"]))

    def made(self, extra=b""):
        self.lines[0]["records"] = len(self.lines) - 1
        self.members["results.jsonl"] = "".join(dump(l) + "\n" for l in self.lines).encode()
        return make(self.members, extra)


# ---- what an audit says ---------------------------------------------------------------------------------------------------

pool = concurrent.futures.ThreadPoolExecutor(2)
asked = []


def audit_now(name, data, status, says, *options, **environment):
    path = f"{folder}/{name.replace(' ', '-')}.tar"
    with open(path, "wb") as f:
        f.write(data)
    options = ("--cases", "0", *(("--tiles", "0") if "--tiles" not in options and "--all-tiles" not in options else ()), *options)
    p = subprocess.run([isophote, "audit", path, *options], capture_output=True, text=True, env={**os.environ, **environment})
    said = p.stdout + p.stderr
    if p.returncode != status or says not in said or (status == 0 and "FINDING" in said):
        failures.append(f"{name}: status {p.returncode}, expected {status} and '{says}': {said[:1500]}")
    return said


def audit(*words, **environment):
    asked.append(pool.submit(audit_now, *words, **environment))


def forged(name, g, says, *options):
    """A finding, with its sentence."""
    audit(name, g.made(), 1, f"FINDING {says}", *options)


def refused(name, data, says, status=2):
    """No archive: nothing of it is looked at."""
    audit(name, data, status, says)


def run(*words, status=0, **environment):
    p = subprocess.run([isophote, *words], capture_output=True, text=True, env={**os.environ, **environment})
    if p.returncode != status:
        sys.exit(f"{' '.join(words)}: status {p.returncode}, expected {status}: {p.stdout}{p.stderr}")
    return p.stdout + p.stderr


def submitted(store, *options):
    path = f"{store}.tar"
    run("submit", "--store", store, "-o", path, *options)
    with open(path, "rb") as f:
        return f.read()


# ---- the tests ------------------------------------------------------------------------------------------------------------

CASE, OTHER, PLAIN = "image.strict.direct-disk", "image.strict.direct-rectangle", "kernel.rng.philox"
CHALLENGE = "00000000000000000000000015091478"  # of four quick scenes
FAULT = "faulty:doubled-light"


def truths(true):
    members = take(true)
    if make(members) != true:
        failures.append("the archive is not made of its members as the reference page says")
    for film in Forgery(true).of("film"):
        if root_of(film) != film["root"]:
            failures.append("a film's root is not that of its tiles")
    if Forgery(true).made() != true:
        failures.append("results.jsonl is not compact JSON")
    audit("true", true, 0, "0 findings", "--all-tiles")
    audit("true, a case again", true, 0, "1 cases run again, 0 of them on another device", "--cases", "1")
    said = audit_now("a draw", true, 0, "0 findings", "--tiles", "3")
    seed = said.split("--seed ")[1].split()[0]
    said = json.loads(audit_now("a draw", true, 0, "could foresee the draw", "--tiles", "3", "--seed", seed, "--json"))
    if said["seed"] != seed or said["tiles_again"] != 3:
        failures.append(f"the draw is not repeated: {said}")
    n = said["tiles"]
    for row in said["unseen"]:
        f = row["forged"]
        expected = (n - f) * (n - f - 1) * (n - f - 2) / (n * (n - 1) * (n - 2))
        if abs(row["probability"] - expected) > 1e-12:
            failures.append(f"{row}, expected {expected}")


def results_edited(true, names):
    g = Forgery(true)
    g.one("case", name=CASE, device="null").update(verdict="PASS", skip=None, reason="bits equal to native's", detail=None)
    forged("a verdict flipped", g, f"journal    {CASE} on null is PASS in the results, SKIP in the journal")
    del g.members["journal.jsonl"]
    forged("and the journal left out", g, f"tiles      {CASE} on null passed with 0 films; expected one")
    film = copy(g.one("film", name=CASE))
    film.update(device="null", identity=g.one("case", name=CASE, device="null")["identity"])
    g.tile(film, bytes(len(base64.b64decode(film["sums"]))))
    g.lines.append(film)
    forged("and a film made up", g, f"tiles      {CASE} on null: the tile at", "--all-tiles")
    g = Forgery(true)
    g.lines.remove(g.one("case", name=CASE, device="null"))
    forged("a result left out", g, f"complete   {CASE} on null was to be judged, and has no result")
    g = Forgery(true)
    g.lines.append(copy(g.one("case", name=CASE, device="native")))
    forged("a result twice", g, f"complete   {CASE} on native stands twice")
    g = Forgery(true)
    g.one("case", name=CASE, device="null")["skip"] = "expected"
    forged("a skip said to be expected", g, f"skips      {CASE} on null counts as expected; by skips.json it is unexpected")
    g = Forgery(true)
    for c in g.of("case", device="null"):
        c["name"] = {CASE: PLAIN, PLAIN: CASE}.get(c["name"], c["name"])
    forged("keys of other cases", g, f"keys       {PLAIN} on null has no key of its own")


def lists_edited(true, names):
    g = Forgery(true)
    g.members["list.txt"] = f"{PLAIN}\n".encode()
    forged("a shorter list", g, "list       list.txt is not the list that the run says it judged")
    h = xxh.XXH3_128bits(PLAIN.encode() + b"\0", len(PLAIN) + 1)
    g.selection().update(hash="%016x%016x" % (h.high, h.low), cases=1, selected=1, filter=None)
    forged("a shorter list throughout", g, "list       list.txt is not the list core of this program")
    g = Forgery(true)
    g.selection()["filter"] = "((((((((((a+)+)+)+)+)+)+)+)+)+)+"
    forged("a filter that takes all memory", g, "list       the run's filter has bounds, references or too many repeats")
    g = Forgery(true)
    g.selection()["programs"] = 4000000000
    forged("programs without end", g, "list       the run asks for 4000000000 programs")
    g = Forgery(true)
    g.selection()["levels"] = ["shader"]
    forged("levels that were not asked for", g, f"complete   {PLAIN} was not to be judged")


def rules_edited(true, names):
    g = Forgery(true)
    g.members["waivers.json"] = g.members["waivers.json"].replace(b"kernel.*", b"image.**")
    forged("a waiver edited", g, "members    waivers.json is not what results.jsonl says")
    g.selection()["waiver_rows"]["waivers"][0]["case"] = "image.**"
    g.one("case", name=CASE, device="null").update(waived=True, skip=None, verdict="FAIL")
    del g.members["journal.jsonl"]
    forged("a waiver added afterwards", g, f"waivers    {CASE} on null is waived, and not by {names['waivers']}", "--waivers", names["waivers"])
    g = Forgery(true)
    g.one("case", name=PLAIN, device="null")["waived"] = True
    forged("waived by nothing", g, f"waivers    {PLAIN} on null is waived, and by waivers.json it is not so")
    g = Forgery(true)
    forged("skips of the submitter's", g, f"skips      {CASE} on null was skipped, and {names['skips']} does not expect that", "--skips", names["skips"])


def programs_edited(true, names):
    g = Forgery(true)
    program = g.one("identity", kind="program")
    program["parts"]["kernel"] = "0" * 32
    refused("parts without their key", g.made(), "is not that of these parts", status=1)
    g.rekey()
    forged("another kernel, keys made anew", g, "program    kernel is '" + "0" * 32)
    g = Forgery(true)
    program = g.one("identity", kind="program")
    other = copy(program)
    other["parts"]["version"] = "0.0.1"
    other["key"] = key_of("program", other["parts"])
    g.lines.insert(g.lines.index(program) + 1, other)
    case = g.one("identity", key=g.one("case", name=CASE, device="native")["identity"])
    case["parts"]["program"] = other["key"]
    g.rekey()
    forged("parts of two programs", g, "mixed      results of two programs are in one run")
    g = Forgery(true)
    g.one("run")["environment"]["forged"] = 1
    forged("another environment", g, "members    environment.json is not what results.jsonl says")
    g = Forgery(true)
    environment = g.one("identity", kind="environment")
    other = copy(environment)
    other["parts"]["LD_PRELOAD"] = "fast.so"
    other["key"] = key_of("environment", other["parts"])
    g.lines.insert(g.lines.index(environment) + 1, other)
    case = g.one("identity", key=g.one("case", name=PLAIN, device="native")["identity"])
    case["parts"]["environment"] = other["key"]
    g.rekey()
    forged("two environments", g, "mixed      results of two environments are in one run")
    g = Forgery(true)
    g.one("device", id="native")["name"] = "A faster one"
    forged("a device renamed", g, "devices    native is described otherwise than by its identity")
    g = Forgery(true)
    for c in g.of("case", name=PLAIN):
        c["device"] = {"native": "null", "null": "native"}[c["device"]]
    forged("verdicts of two devices exchanged", g, f"devices    {PLAIN} on null has the key of another device")
    g = Forgery(true)
    case = g.one("case", name=CASE, device="native")
    inputs = g.one("identity", key=g.one("identity", key=case["identity"])["parts"]["inputs"])
    name = next(iter(inputs["parts"]))
    inputs["parts"][name] = "0" * 32
    g.rekey()
    forged("another scene file", g, f"inputs     {CASE} on native read other files than this program has")
    g = Forgery(true)
    del g.one("identity", key=g.one("case", name=CASE, device="native")["identity"])["parts"]["inputs"]
    g.rekey()
    forged("a scene not named", g, f"inputs     {CASE} on native does not say which scene it read")
    g = Forgery(true)
    del g.one("identity", key=g.one("case", name=PLAIN, device="native")["identity"])["parts"]["program"]
    g.rekey()
    forged("a program not named", g, f"program    {PLAIN} on native has the key of another program")
    g = Forgery(true)
    case = g.one("case", name=CASE, device="native")
    inputs = g.one("identity", key=g.one("identity", key=case["identity"])["parts"]["inputs"])
    inputs["parts"]["isophote:../../../etc/passwd"] = "0" * 32
    g.rekey()
    forged("a file of the auditor's", g, f"inputs     {CASE} on native read isophote:../../../etc/passwd, which is no file of this program")


def pictures_forged(true, faulty):
    film_of = lambda g: g.one("film", name=CASE, device="native")
    g = Forgery(true)
    sums = bytearray(base64.b64decode(film_of(g)["sums"]))
    sums[40] ^= 1
    film_of(g)["sums"] = base64.b64encode(sums).decode()
    refused("a tile under the old root", g.made(), "a root that is not its tiles'", status=1)
    g.tile(film_of(g), sums)
    forged("a tile under a new root", g, f"tiles      {CASE} on native: the tile at (16,0) has other bits than native renders", "--all-tiles")
    # all pictures as a device with a mistake made them, under native's name
    g, wrong = Forgery(true), Forgery(faulty)
    for film in g.of("film"):
        g.tile(film, base64.b64decode(wrong.one("film", name=film["name"], device=FAULT)["sums"]))
    forged("all pictures another device's", g, "tiles      ", "--tiles", "2")
    g = Forgery(true)
    other = g.one("film", name=OTHER, device="native")
    if other["job"] == film_of(g)["job"]:
        g.tile(film_of(g), base64.b64decode(other["sums"]))
    else:
        failures.append(f"{CASE} and {OTHER} are of two jobs")
    forged("a picture of another scene", g, f"tiles      {CASE} on native: the tile at", "--all-tiles")
    g = Forgery(true)
    film_of(g)["job"]["samples"] = 1
    film_of(g)["root"] = root_of(film_of(g))
    forged("a picture of fewer samples", g, f"tiles      {CASE} on native: the film is of another job")
    g = Forgery(true)
    film_of(g)["job"].update(width=16, height=16)
    g.tile(film_of(g), bytes(32))
    forged("a smaller picture", g, f"tiles      {CASE} on native: the film is of another job")
    g = Forgery(true)
    film = copy(film_of(g))
    film["identity"] = g.one("case", name=PLAIN, device="native")["identity"]
    g.lines.append(film)
    forged("a picture of no verdict", g, f"tiles      a film of {CASE} on native belongs to no verdict")
    # a device that fails, and says so, is no finding
    said = audit_now("an honest failure", faulty, 0, f"by its own account the run has 2 findings")
    if "2 fail or error" not in said:
        failures.append(f"an honest failure: {said}")


def rows_forged(benched):
    said = audit_now("a benchmark", benched, 0, "1 rates are the submitter's word", "--all-tiles")
    if "4 of 4 tiles of 1 strict pictures rendered again on native: 0 have other bits" not in said:
        failures.append(f"a benchmark: {said}")
    film_of = lambda g: g.one("film", name="furnace")
    g = Forgery(benched)
    sums = bytearray(base64.b64decode(film_of(g)["sums"]))
    sums[0] ^= 1
    g.tile(film_of(g), sums)
    forged("a row's picture forged", g, "tiles      furnace on native: the tile at (0,0) has other bits", "--all-tiles")
    g.one("bench")["spp"] = 64
    forged("a row of more samples", g, "tiles      a film of furnace on native belongs to no row")
    g = Forgery(benched)
    g.lines.remove(film_of(g))
    forged("a row without its picture", g, "tiles      furnace on native passed in mode strict with no film of that job")
    g = Forgery(benched)
    film_of(g)["job"]["exponent"] += 1
    g.tile(film_of(g), sums)
    forged("a picture in other steps", g, "tiles      furnace on native: the film is of another job")
    film_of(g)["job"]["samples"] = 1 << 30
    g.tile(film_of(g), sums)
    forged("a picture without end", g, "tiles      furnace on native: the film is of no job")
    g = Forgery(benched)
    g.one("bench")["identity"] = g.one("identity", kind="program")["key"]
    forged("a row of another key", g, "keys       a row of furnace on native has no key of its own")
    g = Forgery(benched)
    g.rename('"furnace"', '"../../etc/passwd"')
    audit("a row of a scene elsewhere", g.made(), 0, "1 rows are of scenes of the submitter's own")
    g = Forgery(benched)
    g.one("run")["kind"] = "import"
    refused("a run of another kind", g.made(), "nobody can audit", status=1)


def containers(true):
    members = take(true)
    changed = dict(members)
    changed["list.txt"] += b"x\n"
    manifest = true[: 512 + len(members["manifest.json"]) + -len(members["manifest.json"]) % 512]
    refused("an old manifest", manifest + make(changed)[len(manifest) :], "does not say what the members are", status=1)
    refused("cut short", true[:-1024], "at byte")
    refused("cut in two", true[: len(true) // 2], "the file ends within a member")
    refused("something behind it", true + b"\0", "bytes behind the end of the archive")
    refused("a member twice", make(members, member("list.txt", b"")), "a member stands twice")
    refused("an unknown member", make(members, member("notes.txt", b"")), "a member of a name that archives do not have")
    refused("a path", make(members, member("../list.txt", b"")), "a member of a name that archives do not have")
    refused("an absolute path", make(members, member("/etc/passwd", b"")), "a member of a name that archives do not have")
    refused("a link", make(members, member("list.txt", b"", b"2")), "only plain files")
    refused("a device", make(members, member("list.txt", b"", b"3")), "only plain files")
    refused("a huge member", make(members, member("skips.json", b"", size=8 ** 11 - 1)), "a member is larger than 1 GiB")
    refused("a packed one", b"\x1f\x8b\x08\0" + true, "at byte 0")
    refused("nothing", b"", "at byte 0")


def challenges(true, answered):
    audit("no challenge", true, 1, "FINDING challenge  the run answers no challenge", "--challenge", CHALLENGE)
    said = audit_now("a challenge", answered, 0, "0 findings", "--challenge", CHALLENGE)
    if "\n4 of " not in said:
        failures.append(f"not one tile of each picture of the challenge: {said}")
    new = CHALLENGE[::-1]
    audit("an old answer", answered, 1, "FINDING challenge  the run answers another challenge", "--challenge", new)
    g = Forgery(answered)
    g.rename(CHALLENGE, new)
    g.rekey()
    forged("an old answer renamed", g, "", "--challenge", new)
    g = Forgery(answered)
    g.one("case", name=f"image.challenge.{CHALLENGE}.2")["verdict"] = "SKIP"
    forged("an answer kept back", g, f"challenge  image.challenge.{CHALLENGE}.2 on native is not answered: SKIP", "--challenge", CHALLENGE)
    # the seed of scenes at random
    listed = run("conform", "--challenge", CHALLENGE, "--scenes", "1", "--list", "--filter", "image[.]random")
    seed = hashlib.sha256(f"isophote challenge 1\n{CHALLENGE}\n0\n".encode()).digest()[:8]
    if f"image.random.{int.from_bytes(seed, 'little')}-0 " not in listed:
        failures.append(f"the challenge does not seed scenes at random: {listed}")
    run("conform", "--challenge", CHALLENGE, "--scenes", "1", "--seed", "1", "--list", status=2)
    g = Forgery(answered)
    g.selection().update(random_scenes=1, random_seed="1")
    forged("scenes of another seed", g, "challenge  the seed of the random scenes is 1; the challenge makes it")


def signatures(store, true):
    for name in ("a", "b"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", f"{folder}/{name}"], check=True)
        with open(f"{folder}/{name}.pub") as f, open(f"{folder}/{name}.allowed", "w") as to:
            to.write(f"{name}@example.org {f.read()}")
    path = f"{folder}/signed.tar"
    run("submit", "--store", store, "-o", path, "--sign", f"{folder}/a")
    with open(path, "rb") as f:
        assert f.read() == true, "a signed archive has other bytes"
    check = ["audit", path, "--tiles", "0", "--cases", "0", "--signers"]

    def told(status, says, *words, **environment):
        said = run(*words, status=status, **environment)
        if says not in said:
            failures.append(f"{words[2:]}: expected '{says}': {said}")

    told(0, 'note    signature  ' + path + '.sig is a signature of these bytes: Good "isophote" signature for a@example.org', *check, f"{folder}/a.allowed")
    told(1, "FINDING signature  " + path + ".sig is by no key that", *check, f"{folder}/b.allowed")
    told(2, "need ssh-keygen (OpenSSH): ssh-keygen does not start", *check, f"{folder}/a.allowed", PATH="/nonexistent")
    told(2, "need ssh-keygen (OpenSSH): ssh-keygen does not start", "submit", "--store", store, "-o", f"{folder}/none.tar", "--sign", f"{folder}/a", PATH="/nonexistent")
    if os.path.exists(f"{folder}/none.tar"):
        failures.append("an archive was written although it could not be signed")
    told(1, path + ".sig does not sign these bytes", "audit", f"{stores[2]}.tar", *check[2:], f"{folder}/a.allowed", "--signature", path + ".sig")
    shutil.copy(path, f"{folder}/plain.tar")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", f"{folder}/a", "-n", "file", f"{folder}/plain.tar"], check=True, stderr=subprocess.DEVNULL)
    told(1, "does not sign these bytes", *check, f"{folder}/a.allowed", "--signature", f"{folder}/plain.tar.sig")
    told(1, f"FINDING signature  there is no signature {folder}/nowhere", *check, f"{folder}/a.allowed", "--signature", f"{folder}/nowhere")
    with open(f"{path}.sig", "w") as f:
        f.write("my notes\n")
    told(2, "is not a signature, which would replace it", "submit", "--store", store, "-o", path, "--sign", f"{folder}/a")
    if not shutil.which("minisign"):
        return
    subprocess.run(["minisign", "-G", "-W", "-p", f"{folder}/m.pub", "-s", f"{folder}/m.key"], check=True, stdout=subprocess.DEVNULL)
    run("submit", "--store", store, "-o", path, "--sign", f"{folder}/m.key")
    told(0, path + ".minisig is a signature of these bytes: Signature and comment signature verified", *check, f"{folder}/m.pub")
    told(1, path + ".minisig does not sign these bytes", "audit", f"{stores[2]}.tar", *check[2:], f"{folder}/m.pub", "--signature", path + ".minisig")


with tempfile.TemporaryDirectory() as folder:
    names = {"waivers": f"{folder}/w.json", "skips": f"{folder}/k.json"}
    waivers = {"waivers": [{"device": "null", "case": "kernel.*", "reason": "no kernel", "expires": "2999-01-01"}]}
    for name, rows in (("waivers", waivers), ("skips", {"skips": []})):
        with open(names[name], "w") as f:
            json.dump(rows, f)
    pictures = f"^({PLAIN}|{CASE}|{OTHER})$".replace(".", "[.]")
    stores = [f"{folder}/{n}.db" for n in ("true", "faulty", "answered", "benched")]
    rules = ["--waivers", names["waivers"], "--skips", names["skips"]]
    runs = [
        pool.submit(run, "conform", "--device", "native", "--device", "null", "--filter", pictures, "--store", stores[0], *rules, status=1),
        pool.submit(run, "conform", "--device", FAULT, "--filter", "^image[.]strict[.]direct-(disk|rectangle)$", "--reruns", "0", "--store", stores[1], status=1),
        pool.submit(run, "conform", "--device", "native", "--filter", "^image[.]challenge", "--challenge", CHALLENGE, "--store", stores[2]),
        pool.submit(run, "bench", "furnace", "--device", "native", "--mode", "strict", "--spp", "1", "--width", "32", "--height", "32", "--repetitions", "1",
                    "--max-repetitions", "1", "--store", stores[3]),
    ]
    for r in runs:
        r.result()
    true, faulty, answered = (submitted(s) for s in stores[:3])
    if submitted(stores[0]) != true:
        failures.append("the same run gives other bytes")
    truths(true)
    for edit in (results_edited, lists_edited, rules_edited, programs_edited):
        edit(true, names)
    pictures_forged(true, faulty)
    rows_forged(submitted(stores[3], "--run", "1"))
    containers(true)
    challenges(true, answered)
    signatures(stores[0], true)
    for a in asked:
        a.result()
    print(f"{len(asked)} audits")
for f in failures:
    print("FAIL:", f)
sys.exit(1 if failures else 0)
