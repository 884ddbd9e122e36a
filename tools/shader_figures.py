# SPDX-License-Identifier: Apache-2.0
"""Times shading engines; see tools/shader_figures."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

REFERENCE = pathlib.Path("docs/results/shader_reference.json")


def shade(program, engine, mode, size, rows, threads, iterations, what):
    """One run: (ns per point, seconds to translate and compile, was it kept)."""
    command = [program, "shade", "--json", "--bake", "--engine", engine, "--mode", mode, "-t", str(threads), "-g", str(size), str(rows),
               "--iters", str(iterations), *what, "-o", "Cout", "/dev/null"]
    # an image that nobody keeps: .pfm by name, so that writing it costs little
    command[-1] = str(pathlib.Path("/tmp") / "isophote-shader-figures.pfm")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"status {run.returncode}"
    r = json.loads(run.stdout)
    return r["shade_s"] / (size * rows * iterations) * 1e9, r


LOBES = {"metallic": 0.3, "subsurf": 0.4, "specularTint": 0.5, "anisotropic": 0.6, "sheen": 0.7, "clearcoat": 0.8, "clearcoatGloss": 0.6}


def cases(folder):
    """(name, arguments), null first."""
    files = sorted(p for p in folder.iterdir() if p.suffix in (".asl", ".osl"))
    by_name = {p.stem: str(p) for p in files}
    if "null" not in by_name:
        sys.exit(f"{folder} holds no shader 'null', whose cost is taken off")
    for name in ["null", *(n for n in by_name if n != "null" and not n.startswith("net_"))]:
        text = pathlib.Path(by_name[name]).read_text(encoding="utf-8", errors="replace")
        if "string kind" in text and "noise(kind" in text:
            for kind in ("perlin", "cell", "simplex", "hash"):
                yield f"noise {kind}", ["--param", "kind", kind, by_name[name]]
        elif "Cout" in text:
            yield name, [by_name[name]]
        if name == "disney":
            yield "disney lobes", [w for k, v in LOBES.items() for w in ("--param", k, str(v))] + [by_name[name]]
    if {"net_noise", "net_costly", "net_final"} <= set(by_name):
        for name, use in (("net", "0"), ("net costly", "1")):
            yield name, ["--shader", by_name["net_noise"], "noise", "--shader", by_name["net_costly"], "costly",
                         "--param", "useTex", use, "--shader", by_name["net_final"], "final",
                         "--connect", "noise", "fac", "final", "fac", "--connect", "costly", "tex", "final", "tex"]


def batched_key():
    """The reference's batched figures for this processor's vectors."""
    flags = pathlib.Path("/proc/cpuinfo")
    return "batched" if flags.exists() and "avx512f" in flags.read_text() else "batched8"


COLD_BARS_S = {"interp": 0.15, "native": 1.5}  # to the first point


COMPILE_BAR_MS = 20  # OSL's own: 8 to 21 (docs/results/shaders.md)


def measured(command, cache):
    """One run: what it gave, its seconds by the clock, and those of processors."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "ISOPHOTE_CACHE": cache})
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return run, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compiled(command, cache):
    """Processor milliseconds of one run, and those to machine code by its own count."""
    run, _, processor = measured(command, cache)
    if run.returncode != 0:
        sys.exit(run.stderr.strip() or f"status {run.returncode}")
    return processor * 1e3, json.loads(run.stdout)["compile_s"] * 1e3


def compiling(program, engine, mode, folder, repeat):
    """Rows of what each shader takes to machine code: processor milliseconds with an empty cache, less those of the same run that
    finds it there; and by the program's own count, as it is, and with its parameters as constants, which OSL always does."""
    rows = {}
    with tempfile.TemporaryDirectory(prefix="isophote-compile-") as scratch:
        for turn in range(repeat):
            for k, (name, what) in enumerate(cases(folder)):
                command = [program, "shade", "--json", "--engine", engine, "--mode", mode, "-t", "1", "-g", "64", "8", *what, "-o", "Cout", f"{scratch}/o.pfm"]
                cold, compile_ms = compiled(command, f"{scratch}/{turn}-{k}")
                kept, _ = compiled(command, f"{scratch}/{turn}-{k}")
                _, baked_ms = compiled([*command, "--bake"], f"{scratch}/{turn}-{k}-baked")
                row = {"machine_code_ms": cold - kept, "processor_ms": cold, "compile_ms": compile_ms, "baked_ms": baked_ms}
                rows[name] = {m: min(v, rows.get(name, row)[m]) for m, v in row.items()}
    return [{"shader": name, **row} for name, row in rows.items()]


def compiling_print(rows):
    print(f"from text to machine code, empty cache, milliseconds, least; the bar is {COMPILE_BAR_MS} for all of compiling")
    print(f"{'shader':<16}{'compiling':>11}{'with --bake':>13}{'machine code, processor':>25}{'program, processor':>20}")
    for r in rows:
        print(f"{r['shader']:<16}{r['compile_ms']:>11.1f}{r['baked_ms']:>13.1f}{r['machine_code_ms']:>25.1f}{r['processor_ms']:>20.1f}")


def wide_shader():
    """A shader of 200 lines: 65 calls of noise, sines, branches."""
    lines = ["shader wide(float k = 1, output color Cout = 0)", "{", "    float x = u, y = v;"]
    for i in range(65):
        lines += [
            f"    x = sin(x * {1.1 + 0.013 * i:.3f} + y) + noise(P * {1 + 0.1 * i:.2f}) * k;",
            f"    if (x > {0.1 + 0.01 * i:.2f}) y += 0.1 * x; else y = y * 0.9 + {0.01 * i:.2f};",
            f"    Cout += color(x, y, x * y) * {0.01 + 0.0001 * i:.4f};",
        ]
    return "\n".join([*lines, "    Cout = Cout / 65;", "}"]) + "\n"


def cold(program, engines, repeat):
    """Rows of what one point of wide_shader() takes from the start of the program, with an empty cache."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="isophote-cold-") as folder:
        path = pathlib.Path(folder) / "wide.asl"
        path.write_text(wide_shader())
        for engine in engines:
            wall, processor, error = [], [], None
            for turn in range(repeat):
                command = [program, "shade", "--engine", engine, "-g", "1", "1", str(path), "-o", "Cout", f"{folder}/o.pfm"]
                run, clock, used = measured(command, f"{folder}/{engine}-{turn}")
                wall.append(clock)
                processor.append(used)
                if run.returncode != 0:
                    error = run.stderr.strip() or f"status {run.returncode}"
            row = {"engine": engine, "bar_s": COLD_BARS_S.get(engine)}
            rows.append({**row, "error": error} if error else {**row, "wall_s": min(wall), "processor_s": min(processor)})
    return rows


def cold_print(rows):
    print("200 lines, from text to the first point, empty cache, seconds")
    print(f"{'engine':<12}{'wall':>8}{'processor':>11}{'bar':>7}")
    for r in rows:
        if "error" in r:
            print(f"{r['engine']:<12}  {r['error']}")
        else:
            print(f"{r['engine']:<12}{r['wall_s']:>8.3f}{r['processor_s']:>11.3f}{r['bar_s'] or '':>7}")


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--program", default="build/release/isophote")
    a.add_argument("--shaders", default="shaders/bench", type=pathlib.Path)
    a.add_argument("--size", default=1024, type=int)
    a.add_argument("--rows", type=int, help="height of the grid, else as its width; few make runs so short that some are undisturbed by others")
    a.add_argument("--threads", default=1, type=int)
    a.add_argument("--engine", action="append")
    a.add_argument("--mode", default="strict", choices=("strict", "device", "fast"))
    a.add_argument("--repeat", default=3, type=int, help="the least of so many runs counts")
    a.add_argument("--json", action="store_true")
    a.add_argument("--cold", action="store_true", help="instead: a shader of 200 lines, from its text to the first point")
    a.add_argument("--compile", action="store_true", help="instead: what each shader takes to machine code")
    o = a.parse_args()
    if o.compile:
        rows = compiling(o.program, (o.engine or ["llvm"])[0], o.mode, o.shaders, o.repeat)
        print(json.dumps(rows, indent=1)) if o.json else compiling_print(rows)
        return 0
    if o.cold:
        rows = cold(o.program, o.engine or ["interp", "native", "llvm"], o.repeat)
        print(json.dumps(rows, indent=1)) if o.json else cold_print(rows)
        return 1 if any("error" in r for r in rows) else 0
    engines = o.engine or ["native"]
    reference = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {"shaders": {}, "source": ""}
    rows, failed, batched = [], False, reference.get(batched_key(), {})
    for engine in engines:
        base = None
        for name, what in cases(o.shaders):
            slow = engine in ("interp", "ir")
            size, iterations = (min(o.size, 64), 1) if slow else (o.size, 8)
            best, why = None, None
            for _ in range(o.repeat):
                ns, why = shade(o.program, engine, o.mode, size, min(o.rows or size, size), o.threads, iterations, what)
                if ns is None:
                    break
                best = ns if best is None else min(best, ns)
            row = {"engine": engine, "shader": name, "ns": best, "net": None, "ratio": None, "batched": None}
            if best is None:
                row["error"] = why
                failed = True
            else:
                base = best if name == "null" else base
                row["net"] = best - base
                ref = reference["shaders"].get(name)
                null = reference["shaders"].get("null")
                if ref and null and name != "null" and row["net"] > 0:
                    row["ratio"] = (ref - null) / row["net"]
                    row["batched"] = (batched[name] - batched["null"]) / row["net"]
            rows.append(row)
    if o.json:
        print(json.dumps({"size": o.size, "threads": o.threads, "reference": reference["source"], "rows": rows}, indent=1))
    else:
        print(f"{o.size} x {o.rows or o.size} points, {o.threads} thread(s); scalar, batched: how many times faster than {reference['source']}")
        print(f"{'engine':<12}{'shader':<16}{'ns/point':>10}{'less null':>10}{'scalar':>8}{'batched':>9}")
        for r in rows:
            if r["ns"] is None:
                print(f"{r['engine']:<12}{r['shader']:<16}  {r['error']}")
                continue
            ratio = f"{r['ratio']:>8.2f}{r['batched']:>9.2f}" if r["ratio"] else ""
            print(f"{r['engine']:<12}{r['shader']:<16}{r['ns']:>10.1f}{r['net']:>10.1f}{ratio}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
