# SPDX-License-Identifier: Apache-2.0
"""Which functions of device/ run in which stage of a path: what tools/mutants holds a FAIL's blame against.

A stage is its functions below, and all that they call but the functions of other stages. So a function that several
stages call, as those of math/ are, belongs to each of them. The texts that shaders are emitted as call what asl/,
math/math.h and surface/closure.h have: that runs in the stage `shader`."""
import pathlib
import re

DEVICE = pathlib.Path(__file__).resolve().parent.parent / "device"

STAGES = {
    "rng": ["k_philox", "k_block", "k_stream_start", "k_stream_fill"],
    "camera": ["k_walk_start", "k_camera_ray"],
    "traversal": ["k_stage_fly", "k_closest", "k_media_fly"],
    "surface": ["k_stage_arrive", "k_stage_face", "k_surface_make", "k_offset"],
    "light": ["k_stage_environment", "k_stage_emission", "k_stage_light", "k_light_sample_make"],
    "shadow": ["k_stage_shadow", "k_occluded", "k_media_visible"],
    "shader": ["k_stage_material", "k_shade_interaction", "k_stage_scatter", "k_scatter_make", "k_scatter_eval",
               "k_scatter_sample", "k_scatter_lit", "k_scatter_side"],
    "roulette": ["k_roulette", "k_stage_scatter"],  # which draws its number
    "path": ["k_path", "k_walk_step", "k_walk_meet", "k_stage_scatter", "k_media_fly"],
    "sum": ["k_path", "k_walk_step", "k_path_result"],
    "film": ["k_sums_add", "k_sums_store", "k_film_value", "k_render_item", "k_render", "k_path_result"],
    "passes": ["k_passes_item", "k_passes"],
}  # fmt: skip
# Cases of one part name it by their group: the functions that they ask.
GROUPS = {
    "hit": ["k_hit_item", "k_hit", "k_closest", "k_occluded", "k_brute_force"],
    "light": ["k_light_sample_make"],
    "lights": ["k_light_sample_make"],
    "environment": ["k_env_eval"],
    "texture": ["k_texture_lookup"],
    "texels": ["k_texture_lookup"],
    "math": ["k_probe_math", "k_arithmetic_item"],
    "rng": ["k_philox", "k_arithmetic_item"],
}
MATERIALS = ["k_probe_scatter", "k_probe_sample", "k_probe_eval"]  # of the groups material and bsdf-*
PROBES = ["k_probe_item", "k_probe"]  # of the groups that have no entry of their own


TREES = {"bvh2": "k_traverse2", "bvh8": "k_traverse8", "bvh8c": "k_traverse8c", "none": "k_linear"}

EMITTED = ("asl/", "surface/closure", "math/math.h", "math/lanes.h")  # what emitted shaders call
ASKED = ["k_ask_ray", "k_ask_occlusion", "k_reply", "k_say"]  # the same, of surface/shade.h


def read_calls(folder=DEVICE, only=None):
    """Names that each function and macro has in its text, of those that are functions or macros; only: of paths that begin so."""
    calls = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".h", ".c", ".def") or {"tests", "linked"} & set(path.parts):
            continue
        if only and not path.relative_to(folder).as_posix().startswith(only):
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.S)
        text = re.sub(r"\bA_N\((\w+)\)", r"\1", text)  # gradient_noise.def: one name for values and slopes
        define = r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?((?:[^\n]*\\\n)*[^\n]*)"
        for m in re.finditer(define, text, re.M):
            calls.setdefault(m[1], set()).update(re.findall(r"\b[A-Za-z_]\w+\b", m[2]))
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
        for m in re.finditer(r"\b(\w+)\s*\(([^(){};]*(?:\([^()]*\)[^(){};]*)*)\)\s*\{", text):
            if m[1] in ("if", "for", "while", "switch"):
                continue
            end, depth = m.end(), 1
            while end < len(text) and depth:
                depth += (text[end] == "{") - (text[end] == "}")
                end += 1
            calls.setdefault(m[1], set()).update(re.findall(r"\b[A-Za-z_]\w+\b", text[m.end() : end]))
    return {name: (names & calls.keys()) - {name} for name, names in calls.items()}


def reached(calls, roots, closed):
    """The roots and what they call, not going into `closed`."""
    seen, todo = set(), list(roots)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [c for c in calls.get(name, ()) if c not in closed]
    return seen


def functions_of_trees(calls):
    """Those that a walk through one tree alone calls: what stands between K_IS_TREE's branches of trace/traverse.h."""
    missing = sorted(set(TREES.values()) - calls.keys())
    if missing:
        raise ValueError(f"device/ has no function {', '.join(missing)}: tools/device_calls.py names its trees' functions")
    walks = {tree: reached(calls, [root], set()) for tree, root in TREES.items()}
    return {tree: own.difference(*(walk for other, walk in walks.items() if other != tree)) for tree, own in walks.items()}


def functions_of_stages(calls):
    missing = sorted({r for roots in STAGES.values() for r in roots} - calls.keys())
    if missing:
        raise ValueError(f"device/ has no function {', '.join(missing)}: tools/device_calls.py names its stages' functions")
    helpers = set(STAGES["rng"])
    owned = {r for roots in STAGES.values() for r in roots} - helpers
    out = {s: reached(calls, roots, owned - set(roots)) for s, roots in STAGES.items()}
    out["shader"] |= reached(calls, [*read_calls(only=EMITTED), *ASKED], owned)
    for group, roots in GROUPS.items():
        own = group == "hit"
        out[group] = out.get(group, set()) | reached(calls, roots, set()) | set([] if own else PROBES)
    for group in ("material", "bsdf-step", "bsdf-chi-square", "bsdf-furnace"):
        out[group] = reached(calls, MATERIALS, set()) | set(PROBES)
    return out
