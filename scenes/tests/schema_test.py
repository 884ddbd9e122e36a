# SPDX-License-Identifier: Apache-2.0
"""schema_test.py ROOT: docs/reference/scene.schema.json against the scenes that come with Isophote, and against documents
that the reader refuses too. Exit status 77 (SKIP) without the package jsonschema."""
import copy
import glob
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("SKIP: the Python package jsonschema (4 or newer) is not here")
    sys.exit(77)
if not hasattr(jsonschema, "Draft202012Validator"):
    print("SKIP: jsonschema", jsonschema.__version__, "is older than draft 2020-12")
    sys.exit(77)

root = sys.argv[1]
with open(os.path.join(root, "docs/reference/scene.schema.json"), encoding="utf-8") as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

faults = 0
paths = sorted(glob.glob(os.path.join(root, "scenes/library/*.json")) + glob.glob(os.path.join(root, "scenes/real/*.json")) + glob.glob(os.path.join(root, "scenes/large/*.json")))
for path in paths:
    with open(path, encoding="utf-8") as f:
        scene = json.load(f)
    for error in validator.iter_errors(scene):
        print(f"{path}: {error.json_path}: {error.message[:200]}")
        faults += 1
if len(paths) < 13:
    print("only", len(paths), "scenes found")
    faults += 1

GOOD = {
    "isophote": 1,
    "camera": {"origin": [0, 0, 5], "target": [0, 0, 0]},
    "materials": {
        "m": {"type": "diffuse", "sides": "single", "normal_map": {"texture": "t", "scale": -1}},
        "brass": {"type": "rough_conductor", "metal": "gold", "anisotropy": 0.5, "rotation": {"texture": "t", "channel": "g"}},
        "clay": {"type": "oren_nayar", "sigma": 30, "opacity": {"texture": "t", "channel": "a"}, "alpha_mode": "blend"},
        "frost": {"type": "rough_dielectric", "ior": {"texture": "t", "scale": 2}, "roughness": 0.3},
        "pane": {"type": "thin_dielectric", "ior": 1.33},
        "fuzz": {"type": "sheen", "reflectance": [1, 0, 0], "roughness": 0.4},
        "paint": {"type": "principled", "clearcoat": 1, "clearcoat_gloss": 0.9, "sheen": 0.5, "specular": {"texture": "t"}, "transmission": 0.2, "subsurface": {"texture": "t"}, "ior": 1.4},
        "lacquer": {"type": "principled", "coat": 1, "coat_roughness": {"texture": "t"}, "coat_normal_map": {"texture": "t"}, "specular_color": [9, 1, 1],
                    "specular_weight": 0.5, "fuzz": {"texture": "t", "scale": [1, 0, 0]}, "fuzz_roughness": 0.7, "transmission": 1, "thin": True},
        "amber": {"type": "dielectric", "medium": {"absorption": [0, 1, 30]}},
        "smoke": {"type": "interface", "medium": {"source": "volume v(float k = 1) { Ci = anisotropic_vdf(0.5, color(k), 0); }",
                                                  "parameters": {"k": 2}}},
        "fog": {"type": "interface", "medium": {"density": 1, "albedo": [1, 1, 0.5], "g": 0.3}},
        "closure": {"type": "shader", "source": "surface s() { Ci = diffuse(N); }", "emission_bound": 3},
        "network": {
            "type": "shader",
            "layers": [
                {"name": "a", "shader": "noise.asl", "parameters": {"scale": 3, "colors": [[1, 0, 0], [0, 1, 0]]}},
                {"name": "b", "shader": "wood.asl"},
            ],
            "connections": [["a.out", "b.in"]],
            "base": {"type": "principled", "roughness": 0.2},
            "drive": {"base_color": "b.Cout", "normal": "bump"},
            "emission": 2,
        },
    },
    "instancing": "two-level",
    "objects": [
        {"type": "sphere", "material": "m"},
        {
            "type": "mesh",
            "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
            "triangles": [[0, 1, 2]],
            "face_materials": ["m"],
            "normals": "angle",
        },
        {"type": "procedure", "material": "m", "cells": [8, 3], "closed": "u", "shader": "shell.asl", "parameters": {"turns": 3}, "normals": "angle"},
        {"type": "procedure", "material": "m", "triangles": 100, "source": "surface s(output point corners[3] = {0, 0, 1}) { }", "normals": "shader",
         "displacement": {"source": "displacement d() { P += N; }", "edge": 0.5}},
        {"type": "terrain", "material": "m", "cells": 8, "octaves": 3, "seed": 1, "height": 1, "frequency": 2, "normals": "face"},
    ],
    "lights": [
        {"type": "point", "position": [0, 1, 0], "intensity": [1, 0, 2]},
        {"type": "spot", "position": [0, 1, 0], "target": [0, 0, 0], "intensity": 3, "angle": 30, "inner_angle": 20},
        {"type": "directional", "direction": [0, -1, 0], "irradiance": 2},
    ],
}


def changed(path, value):
    doc = copy.deepcopy(GOOD)
    at = doc
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return doc


BAD = [
    changed(["isophote"], 2),
    changed(["objets"], []),
    changed(["camera"], {"origin": [0, 0, 5]}),
    changed(["camera", "fov"], 180),
    changed(["camera", "origin"], [0, 0]),
    changed(["camera", "blades"], 2),
    changed(["camera", "height"], 2),
    changed(["camera", "type"], "orthographic"),
    changed(["camera"], {"type": "orthographic", "height": 1, "fov": 45, "origin": [0, 0, 5], "target": [0, 0, 0]}),
    changed(["camera"], {"type": "equirectangular", "lens_radius": 1, "origin": [0, 0, 5], "target": [0, 0, 0]}),
    changed(["film"], {"filter": "tent"}),
    changed(["film"], {"filter": {"type": "tent", "radius": 0}}),
    changed(["film"], {"crop": [0, 0, 5]}),
    changed(["render"], {"clamp": 0}),
    changed(["instancing"], "some"),
    changed(["objects", 0], {"type": "terrain"}),
    changed(["objects", 0], {"type": "procedure", "material": "m", "source": "surface s() { P = u; }"}),
    changed(["objects", 0], {"type": "procedure", "material": "m", "cells": [2, 2]}),
    changed(["objects", 0], {"type": "procedure", "material": "m", "cells": [2, 2], "triangles": 2, "source": "surface s() { P = u; }"}),
    changed(["objects", 0], {"type": "procedure", "material": "m", "cells": [2, 8193], "source": "surface s() { P = u; }"}),
    changed(["objects", 0], {"type": "procedure", "material": "m", "triangles": 2, "closed": "u", "source": "surface s() { P = u; }"}),
    changed(["objects", 0], {"type": "terrain", "material": "m", "cells": 8193}),
    changed(["film"], {"width": 0}),
    changed(["render"], {"spp": 1.5}),
    changed(["materials", "m"], {"type": "diffus"}),
    changed(["materials", "lacquer", "clearcoat"], 1),
    changed(["materials", "lacquer", "sheen"], 1),
    changed(["materials", "lacquer", "thin"], 1),
    changed(["materials", "lacquer", "specular_color"], 101),
    changed(["materials", "m", "coat"], 1),
    changed(["materials", "amber", "medium", "absorption"], -1),
    changed(["materials", "amber", "medium"], {"g": 0}),
    changed(["materials", "smoke", "medium", "density"], 1),
    changed(["materials", "smoke", "medium", "shader"], "fog.osl"),
    changed(["materials", "m"], {"type": "diffuse", "color": 1}),
    changed(["materials", "m"], {"type": "diffuse", "reflectance": 1.5}),
    changed(["materials", "m"], {"type": "rough_conductor", "eta": 1}),
    changed(["materials", "m"], {"type": "diffuse", "ior": 1.5}),
    changed(["materials", "m"], {"type": "diffuse", "emission": 1e-20}),
    changed(["materials", "m"], {"type": "rough_conductor", "metal": "gold", "k": 1}),
    changed(["materials", "m"], {"type": "rough_conductor", "metal": "golf"}),
    changed(["materials", "m"], {"type": "rough_dielectric", "anisotropy": 0.5}),
    changed(["materials", "m"], {"type": "oren_nayar", "sigma": 91}),
    changed(["materials", "m"], {"type": "principled", "ior": 11}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "opacity": 0.5}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "base": {"type": "principled", "sigma": 1}, "drive": {"roughness": "r"}}),
    changed(["materials", "m"], {"type": "shader"}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "source": "shader s() {}"}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "base": {"type": "diffuse"}}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "base": {"type": "diffuse", "emission": 1}, "drive": {"reflectance": "c"}}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "base": {"type": "shader", "shader": "b.asl"}, "drive": {"normal": "n"}}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "base": {"type": "diffuse"}, "drive": {"colour": "c"}}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "connections": [["a.x", "b.y"]]}),
    changed(["materials", "m"], {"type": "shader", "layers": []}),
    changed(["materials", "m"], {"type": "shader", "layers": [{"name": "a.b", "shader": "a.asl"}]}),
    changed(["materials", "m"], {"type": "shader", "layers": [{"name": "a", "shader": "a.asl"}], "connections": [["a", "b.y"]]}),
    changed(["materials", "m"], {"type": "diffuse", "shader": "a.asl"}),
    changed(["materials", "m"], {"type": "diffuse", "alpha_mode": "mask", "alpha_cutoff": 2}),
    changed(["materials", "m"], {"type": "diffuse", "sides": "both"}),
    changed(["materials", "m"], {"type": "diffuse", "medium": {"density": 1, "g": 1}}),
    changed(["materials", "m"], {"type": "diffuse", "normal_map": "t"}),
    changed(["materials", "m"], {"type": "interface", "emission": 1}),
    changed(["materials", "m"], {"type": "shader", "shader": "a.asl", "normal_map": {"texture": "t"}}),
    changed(["objects", 1, "material"], "m"),
    changed(["materials", "m"], {"type": "diffuse", "emission": {"scale": 2}}),
    changed(["lights", 0], {"type": "area"}),
    changed(["lights", 0], {"type": "point", "position": [0, 0, 0]}),
    changed(["lights", 0], {"type": "spot", "position": [0, 0, 0], "intensity": 1, "angle": 3}),
    changed(["lights", 0], {"type": "spot", "position": [0, 0, 0], "target": [0, 0, 1], "direction": [0, 0, 1], "intensity": 1, "angle": 3}),
    changed(["lights", 0], {"type": "directional", "direction": [0, 0, 1], "intensity": 1}),
    changed(["render"], {"light_choice": "bvh"}),
    changed(["environment"], {}),
    changed(["environment"], {"radiance": 1, "file": "a.exr"}),
    changed(["objects", 0], {"type": "spere", "material": "m"}),
    changed(["objects", 0], {"type": "sphere"}),
    changed(["objects", 0, "radius"], 0),
    changed(["objects", 0, "transform"], [{"scale": 1, "translate": [0, 0, 0]}]),
    changed(["objects", 0, "transform"], [{"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1]}]),
    changed(["objects", 0, "transform"], [{"matrix": [1, 0, 0, 0]}]),
    changed(["objects", 0], {"type": "mesh", "file": "a.ply", "vertices": []}),
    changed(["objects", 0], {"type": "instance", "group": "g", "material": "m"}),
    changed(["groups"], {"g": []}),
    changed(["textures"], {"t": {}}),
    changed(["textures"], {"t": {"file": "a.png", "wrap": ["repeat"]}}),
]
GOODS = [
    GOOD,
    changed(["camera"], {"type": "orthographic", "height": 1, "fov_axis": "y", "origin": [0, 0, 5], "target": [0, 0, 0]}),
    changed(["camera"], {"type": "equirectangular", "up": [0, 0, 1], "origin": [0, 0, 5], "target": [0, 1, 0]}),
    changed(["camera"], {"lens_radius": 1, "blades": 6, "blade_rotation": -15, "anamorphic": 2, "origin": [0, 0, 5], "target": [0, 1, 0]}),
    changed(["film"], {"filter": {"type": "blackman-harris"}, "crop": [0, 1, 5, 5]}),
]
for doc in GOODS:
    if not validator.is_valid(doc):
        print("refused:", json.dumps(doc))
        faults += 1
for doc in BAD:
    if validator.is_valid(doc):
        print("accepted:", json.dumps(doc))
        faults += 1
print(len(paths), "scenes and", len(BAD), "bad documents,", faults, "faults")
sys.exit(1 if faults else 0)
