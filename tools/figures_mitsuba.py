# SPDX-License-Identifier: Apache-2.0
"""Mitsuba 3 as a peer of tools/figures: renders on request and says how long it took.

    figures_mitsuba.py VARIANT BLOB.PLY

reads one JSON request a line, {"scene": "cornell", "resolution": 512, "spp": 64, "seed": 0}, and answers
{"render_s": ...}. A scene is loaded at its first request. The scenes are those of
scenes/library: cornell is Mitsuba's own box, which ours copies; blob and blobgloss read the same mesh.
"""
import json
import sys
import time

import mitsuba as mi

PATH_VERTICES = 6  # `--max-depth 6`: camera, up to five bounces, light


def blob(mesh_file, gloss):
    transform = mi.ScalarTransform4f()
    grey = {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.5}}
    if gloss:
        bsdf = {
            "type": "principled",
            "base_color": {"type": "rgb", "value": [0.8, 0.6, 0.3]},
            "metallic": 0.8,
            "roughness": 0.3,
            "specular": 0.5,
        }
    else:
        red = {"type": "diffuse", "reflectance": {"type": "rgb", "value": [0.6, 0.4, 0.3]}}
        bsdf = {"type": "twosided", "nested": red}
    return {
        "type": "scene",
        "mesh": {"type": "ply", "filename": mesh_file, "face_normals": True, "bsdf": bsdf},
        "floor": {
            "type": "rectangle",
            "to_world": transform.translate([0, 0, -0.62]).scale(4),
            "bsdf": grey,
        },
        "lamp": {
            "type": "rectangle",
            "to_world": transform.translate([0, 0, 3]).rotate([1, 0, 0], 180).scale(0.7),
            "emitter": {"type": "area", "radiance": {"type": "rgb", "value": 12.0}},
        },
        "sky": {"type": "constant", "radiance": {"type": "rgb", "value": 0.3}},
        "sensor": {
            "type": "perspective",
            "fov": 40,
            "to_world": transform.look_at(origin=[0, -2.6, 0.6], target=[0, 0, 0], up=[0, 0, 1]),
            "film": {"type": "hdrfilm"},
            "sampler": {"type": "independent"},
        },
    }


def describe(name, mesh_file, resolution):
    scene = mi.cornell_box() if name == "cornell" else blob(mesh_file, name == "blobgloss")
    scene["integrator"] = {"type": "path", "max_depth": PATH_VERTICES, "rr_depth": 1000}
    scene["sensor"]["film"].update(
        width=resolution, height=resolution, rfilter={"type": "box"}
    )
    return scene


def main():
    variant, mesh_file = sys.argv[1:]
    mi.set_variant(variant)
    import drjit as dr

    scenes = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = request["scene"], request["resolution"]
        if key not in scenes:
            scenes[key] = mi.load_dict(describe(key[0], mesh_file, key[1]))
        start = time.perf_counter()
        image = mi.render(scenes[key], spp=request["spp"], seed=request["seed"])
        if not variant.startswith("scalar"):
            dr.eval(image)
            dr.sync_thread()
        seconds = time.perf_counter() - start
        print(json.dumps({"render_s": seconds}), flush=True)


if __name__ == "__main__":
    main()
