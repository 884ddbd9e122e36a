# SPDX-License-Identifier: Apache-2.0
"""Scenes for mitsuba_compare.py that nobody drew: a chart in which each lobe has blocks of its own, and random ones.

    mitsuba_generate.py chart-reflecting | chart-transmitting | random-SEED    writes the scene to standard output

A scene depends on its seed alone. What `isophote export --mitsuba --plugins` refuses by design (docs/reference/scenes.md) is not
made: textured and brushed disks, transmitting things that are not closed, blending beside media.
"""
import json
import math
import os
import random
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenes", "library")
BLACK = {"type": "diffuse", "reflectance": 0}


def lamp(center, target, size, emission):
    """A square lamp of half width size at center that faces target, and its material."""
    n = [t - c for c, t in zip(center, target)]
    n = [x / math.hypot(*n) for x in n]
    side = [0, 1, 0] if abs(n[1]) < 0.9 else [1, 0, 0]
    u = cross(side, n)
    u = [size * x / math.hypot(*u) for x in u]
    v = cross(n, u)
    corners = [[round(c + i * a + j * b, 5) for c, a, b in zip(center, u, v)] for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return {"type": "mesh", "vertices": corners, "triangles": [[0, 1, 2], [0, 2, 3]], "normals": "face"}, BLACK | {"emission": emission}


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


# ---- the chart --------------------------------------------------------------------------------------------


LADDER = [0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 0.9]


def principled(**inputs):
    return {"type": "principled"} | inputs


def turned_card(x, y, material, angle):
    scale = [0.49 / math.cos(math.radians(angle)), 0.49, 1]
    turn = [{"scale": scale}, {"rotate": {"axis": [0, 1, 0], "angle": angle}}, {"translate": [x - 3.5, 2.5 - y, 0]}]
    return {"type": "rectangle", "transform": turn, "material": material}


def card(x, y, material):
    """Turned to the lamp on the right by one of four angles, so that it lies in the highlight or beside it."""
    return turned_card(x, y, material, (12, 22, 33, 50)[x % 4])


def grazed_card(x, y, material):
    """Sheen shows where light and eye are far apart."""
    return turned_card(x, y, material, (58, 62, 66, 70)[x % 4])


def ball(x, y, material):
    return {"type": "sphere", "center": [x - 3.5, 2.5 - y, 0], "radius": 0.48, "material": material}


def reflecting_rows():
    """Six rows of eight: what a row is about stands alone, as far as its model allows, over black or nearly so."""
    black, dark = {"base_color": [0.012, 0, 0.002]}, {"base_color": [0.06, 0.02, 0.01]}
    yield card, [principled(base_color=0, specular=0, roughness=0.5, clearcoat=0.9, clearcoat_gloss=0.9 - 0.6 * (1 - x) ** 2) for x in LADDER]
    yield grazed_card, [principled(**black, specular=0, roughness=1, sheen=0.9, sheen_tint=0.5 + 0.4 * x) for x in LADDER]
    yield card, [principled(**dark, specular=0.9, specular_tint=0.95 - x, roughness=x) for x in LADDER]
    brushed = {"base_color": [0.9, 0.6, 0.3], "metallic": 0.9, "specular": 0.1}
    yield card, [principled(**brushed, roughness=0.2 + x / 2, anisotropy=0.9 - x / 2, rotation=x) for x in LADDER]
    yield card, [
        {"type": "oren_nayar", "reflectance": 0.8, "sigma": 25},
        {"type": "oren_nayar", "reflectance": 0.8, "sigma": 70},
        {"type": "sheen", "reflectance": 0.9, "roughness": 0.4},
        {"type": "sheen", "reflectance": 0.9, "roughness": 0.5},
        {"type": "diffuse", "reflectance": [0.2, 0.5, 0.8]},
        principled(base_color=0.8, specular=0, roughness=0.9),
        principled(base_color=0.8, specular=0, roughness=0.4),
        principled(base_color=[0.1, 0.5, 0.9], specular=0.5, roughness=0.7, metallic=0.5, clearcoat=0.5, sheen=0.5),
    ]
    metal = {"type": "rough_conductor"}
    yield card, [metal | {"eta": 0.2 + x, "k": 4 - 3 * x, "roughness": 0.15 + x / 2, "anisotropy": 0.9 - x / 2, "rotation": x} for x in LADDER]


def transmitting_rows():
    """Rows that let light through, among them all that roughness, index and colour may be."""
    clear, frosted = {"specular": 0, "base_color": [0.6, 0.8, 0.9]}, {"type": "rough_dielectric"}
    yield ball, [principled(**clear, transmission=0.9, roughness=0.1 + 0.4 * x, ior=1.9 - 0.7 * x) for x in LADDER]
    yield ball, [principled(**clear, transmission=x, roughness=0.3, ior=1.4) for x in LADDER]
    yield card, [principled(base_color=0.7, transmission=0.9, roughness=x, ior=1.3, anisotropy=0.8, rotation=0.6) for x in LADDER]
    yield ball, [frosted | {"ior": 1.5, "roughness": 0.1 + 0.5 * x} for x in LADDER]
    yield ball, [frosted | {"ior": 1.1 + x, "roughness": 0.4} for x in LADDER]
    yield ball, [{"type": "dielectric", "ior": 1.1 + x} for x in LADDER]


CHARTS = {  # the rows, edges of a path, lamps: center, half width, emission; radiance of the sky
    "chart-reflecting": (reflecting_rows, 2, [([13, 1, 9], 4, [8, 7, 6]), ([2, 15, 3], 5, 2)], 0.2),
    "chart-transmitting": (transmitting_rows, 4, [([-16, 9, -9], 11, [4, 3, 2]), ([14, -14, -9], 11, [1, 2, 3]), ([0, 22, 12], 11, 2)], 0.5),
}


def chart(name):
    """64 x 48 pixels: a thing with a material of its own for each block of 8 x 8."""
    rows, max_depth, lamps, sky = CHARTS[name]
    materials, objects = {}, []
    for y, (shape, row) in enumerate(rows()):
        for x, material in enumerate(row):
            materials[f"{chr(97 + y)}{x + 1}"] = material
            objects.append(shape(x, y, f"{chr(97 + y)}{x + 1}"))
    for i, (center, size, emission) in enumerate(lamps):
        square, materials[f"lamp{i + 1}"] = lamp(center, [0, 0, 0], size, emission)
        objects.append(square | {"material": f"lamp{i + 1}"})
    return {
        "isophote": 1,
        "about": "A chart of lobes, a block of pixels each.",
        "camera": {"type": "orthographic", "origin": [0, 0, 9], "target": [0, 0, 0], "fov_axis": "y", "height": 6},
        "film": {"width": 64, "height": 48},
        "render": {"spp": 64, "max_depth": max_depth, "rr_depth": 1000},
        "materials": materials,
        "objects": objects,
        "environment": {"radiance": sky},
    }


# ---- random scenes ----------------------------------------------------------------------------------------


class Scene:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.volumes = self.chance(0.3)  # media, masks, single sides; or blending and thin panes
        self.materials, self.textures = {}, {}

    # -- numbers

    def chance(self, p):
        return self.rng.random() < p

    def number(self, low, high):
        return round(self.rng.uniform(low, high), 4)

    def share(self):
        """0 to 1, its ends as likely as a tenth each."""
        x = self.rng.random()
        return 0 if x < 0.1 else 1 if x > 0.9 else self.number(0, 1)

    def color(self, low=0.0, high=1.0):
        return self.number(low, high) if self.chance(0.2) else [self.number(low, high) for _ in range(3)]

    def textured_color(self, inputs):
        if "flat" in inputs or self.chance(0.6):
            return self.color(0.05, 0.95)
        name = f"t{len(self.textures) + 1}"
        wraps = ["repeat", "mirror", "clamp"]
        self.textures[name] = {
            "file": os.path.join(LIBRARY, "textures", self.rng.choice(["tile.png", "veins.jpg"])),
            "wrap": [self.rng.choice(wraps), self.rng.choice(wraps)],
            "rotation": self.number(0, 360),
            "scale": [self.number(0.5, 4), self.number(0.5, 4)],
            "offset": [self.number(0, 1), self.number(0, 1)],
        }
        return {"texture": name, "scale": self.color(0.3, 1)}

    def named(self, material):
        name = f"m{len(self.materials) + 1}"
        self.materials[name] = material
        return name

    # -- materials

    def diffuse(self, shape):
        return {"type": "diffuse", "reflectance": self.textured_color(shape)}

    def oren_nayar(self, shape):
        return {"type": "oren_nayar", "reflectance": self.textured_color(shape), "sigma": self.number(0, 90)}

    def mirror(self, shape):
        return {"type": "mirror", "reflectance": self.color()}

    def brushed(self, shape, chance):
        return {} if "flat" in shape or not self.chance(chance) else {"anisotropy": self.share(), "rotation": self.share()}

    def conductor(self, shape):
        out = {"type": "rough_conductor", "roughness": self.number(0.1, 1)} | self.brushed(shape, 0.4)
        if self.chance(0.5):
            return out | {"metal": self.rng.choice(["aluminium", "chromium", "copper", "gold", "iron", "silver", "titanium"])}
        return out | {"eta": self.color(0.1, 3), "k": self.color(0, 5)}

    def dielectric(self, shape):
        return {"type": "dielectric", "ior": self.number(1.05, 2.5)}

    def rough_dielectric(self, shape):
        return {"type": "rough_dielectric", "ior": self.number(1.05, 2.5), "roughness": self.number(0.15, 1)}

    def thin_dielectric(self, shape):
        return {"type": "thin_dielectric", "ior": self.number(1.05, 2.5)}

    def sheen(self, shape):
        return {"type": "sheen", "reflectance": self.textured_color(shape), "roughness": self.number(0.25, 1)}

    def principled(self, shape):
        out = {"type": "principled", "base_color": self.textured_color(shape), "roughness": self.number(0.1, 1)}
        names = ["metallic", "specular", "specular_tint", "sheen", "sheen_tint", "clearcoat", "clearcoat_gloss", "subsurface"]
        out |= {name: self.share() for name in names if self.chance(0.6)}
        if "closed" in shape and self.chance(0.3):
            out |= {"transmission": self.share(), "ior": self.number(1.05, 2)}
        return out | self.brushed(shape, 0.4)

    def material(self, shape):
        kinds = [self.diffuse, self.oren_nayar, self.mirror, self.conductor, self.sheen] + 4 * [self.principled]
        kinds += [self.dielectric, self.rough_dielectric] if "closed" in shape else []
        kinds += [] if self.volumes or "closed" in shape else [self.thin_dielectric]
        made = self.rng.choice(kinds)(shape)
        solid = made["type"] not in ("dielectric", "rough_dielectric", "thin_dielectric") and "transmission" not in made
        if solid and not self.volumes and self.chance(0.1):
            made["opacity"] = self.share()
        if solid and self.volumes and "closed" not in shape and self.chance(0.3):
            made["sides"] = "single"
        if self.volumes and "closed" in shape and self.chance(0.4):
            made = {"type": "interface"} if self.chance(0.6) else self.dielectric(shape)
            made["medium"] = {"density": self.number(0.3, 5), "albedo": self.color(0.2, 1), "g": self.number(-0.8, 0.8)}
        return self.named(made)

    # -- things

    def place(self, at, size):
        """The transform that puts a thing of half width 1 there, turned at random."""
        stretch = [round(size * self.rng.uniform(0.4, 0.6), 4) for _ in range(3)]
        axis = [self.number(-1, 1), self.number(-1, 1), self.number(0.1, 1)]
        return [{"scale": stretch}, {"rotate": {"axis": axis, "angle": self.number(0, 360)}}, {"translate": at}]

    def thing(self, at, size):
        kind = self.rng.choice(["sphere", "sphere", "box", "card", "disk", "pyramid"])
        if kind == "sphere":
            return {"type": "sphere", "center": at, "radius": round(size * self.rng.uniform(0.5, 0.9), 4), "material": self.material({"closed"})}
        if kind == "disk":
            normal = [self.number(-1, 1), self.number(-1, 1), self.number(0.1, 1)]
            return {"type": "disk", "center": at, "normal": normal, "radius": round(0.8 * size, 4), "material": self.material({"flat"})}
        if kind == "pyramid":
            corners = [[1, -1, 0], [0, -1, 1], [-1, -1, 0], [0, -1, -1], [0, 1, 0]]
            sides = [[0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0], [0, 1, 2], [0, 2, 3]]
            shape = {"type": "mesh", "vertices": corners, "triangles": sides, "normals": "face", "material": self.material({"closed", "flat"})}
        else:
            closed = {"closed"} if kind == "box" else set()
            shape = {"type": "box" if kind == "box" else "rectangle", "material": self.material(closed)}
        return shape | {"transform": self.place(at, size)}

    def things(self):
        """On a jittered grid, so that nothing is in anything."""
        out = []
        for x in range(-2, 3):
            for z in range(-1, 2):
                if self.chance(0.5):
                    at = [round(1.3 * x + self.rng.uniform(-0.1, 0.1), 4), self.number(0.65, 0.9), round(1.3 * z + self.rng.uniform(-0.1, 0.1), 4)]
                    out.append(self.thing(at, self.number(0.3, 0.62)))
        return out

    def room(self):
        flat_down = [{"scale": 7}, {"rotate": {"axis": [1, 0, 0], "angle": -90}}]
        wall = [{"scale": 7}, {"translate": [0, 4, -4]}]
        grounds = [self.diffuse, self.oren_nayar, self.conductor, self.principled]
        out = [{"type": "rectangle", "material": self.named(self.rng.choice(grounds)(set())), "transform": flat_down}]
        if self.chance(0.5):
            out.append({"type": "rectangle", "material": self.named(self.rng.choice(grounds)(set())), "transform": wall})
        return out

    # -- light and camera

    def light(self):
        kind = self.rng.choice(["square", "square", "ball", "disk", "point", "spot", "directional"])
        at = [self.number(-3, 3), self.number(3, 4.5), self.number(0, 3)]
        if kind == "square":
            shape, material = lamp(at, [self.number(-1, 1), 0, 0], self.number(0.4, 1.2), self.color(3, 15))
            return shape | {"material": self.named(material)}, None
        if kind == "ball":
            material = self.named(BLACK | {"emission": self.color(3, 15)})
            return {"type": "sphere", "center": at, "radius": self.number(0.3, 0.7), "material": material}, None
        if kind == "disk":
            material = self.named(BLACK | {"emission": self.color(3, 15)})
            return {"type": "disk", "center": at, "normal": [self.number(-0.3, 0.3), -1, 0], "radius": self.number(0.4, 1), "material": material}, None
        if kind == "point":
            return None, {"type": "point", "position": at, "intensity": self.color(5, 20)}
        if kind == "spot":
            angle = self.number(15, 60)
            inner = round(self.rng.uniform(0, 0.9) * angle, 4)
            target = [self.number(-1, 1), 0, self.number(-1, 1)]
            return None, {"type": "spot", "position": at, "target": target, "intensity": self.color(10, 50), "angle": angle, "inner_angle": inner}
        return None, {"type": "directional", "direction": [self.number(-1, 1), -1, self.number(-1, 0)], "irradiance": self.color(0.5, 3)}

    def environment(self):
        if self.chance(0.3):
            return {"file": os.path.join(LIBRARY, "sky.hdr"), "rotation": self.number(0, 360), "mirror": self.chance(0.5), "scale": self.number(0.1, 0.4)}
        return {"radiance": self.color(0.1, 0.8)}

    def camera(self):
        out = {"origin": [self.number(-3, 3), self.number(1.5, 4), self.number(6.5, 9)], "target": [0, 0.6, 0]}
        kind = self.rng.choice(["plain", "plain", "lens", "orthographic"])
        if kind == "orthographic":
            return out | {"type": "orthographic", "height": self.number(4, 6)}
        out["fov"] = self.number(25, 50)
        return out | ({"lens_radius": self.number(0.05, 0.2), "focus_distance": self.number(5, 9)} if kind == "lens" else {})

    def grouped(self, objects):
        """Those without a medium, as a group that stands here, and again behind: turned, mirrored, smaller."""
        size = self.number(0.5, 1)
        at = [{"rotate": {"axis": [0, 1, 0], "angle": self.number(0, 360)}}, {"scale": [size, size, -size]}, {"translate": [0, 0, -4.5]}]
        kept = [o for o in objects if "medium" not in self.materials[o["material"]]]
        rest = [o for o in objects if o not in kept]
        return kept, rest + [{"type": "instance", "group": "g"}, {"type": "instance", "group": "g", "transform": at}]

    def scene(self):
        objects, groups = self.things(), {}
        if self.chance(0.25):
            groups["g"], objects = self.grouped(objects)
        lights = []
        for _ in range(self.rng.randint(1, 3)):
            shape, light = self.light()
            objects += [shape] if shape else []
            lights += [light] if light else []
        out = {
            "isophote": 1,
            "camera": self.camera(),
            "film": {"width": 64, "height": 48, "filter": self.rng.choice([{"type": "box"}, {"type": "tent", "radius": self.number(0.6, 1.5)}])},
            "render": {"spp": 64, "max_depth": self.rng.randint(2, 7), "rr_depth": self.rng.choice([3, 5, 1000])},
            "objects": self.room() + objects,
            "materials": self.materials,
        }
        out |= {"textures": self.textures} if self.textures else {}
        out |= {"lights": lights} if lights else {}
        out |= {"groups": groups, "instancing": "two-level"} if groups.get("g") else {}
        return out | ({"environment": self.environment()} if self.chance(0.8) or not (lights or objects) else {})


def generate(name):
    """The scene of a chart's name, or of "random-SEED"."""
    return chart(name) if name in CHARTS else Scene(int(name.removeprefix("random-"))).scene()


if __name__ == "__main__":
    print(json.dumps(generate(sys.argv[1]), indent=1))
