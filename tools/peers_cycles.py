# SPDX-License-Identifier: Apache-2.0
"""Blender's Cycles as a worker of tools/peers: peers_cycles.py CPU|CUDA|OPTIX. The protocol is in peers.py.

Reads the scene that `isophote export --mitsuba` wrote. What Cycles has no counterpart for is refused by name. Spheres and disks
become meshes.
"""
import json
import math
import os
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

SPHERE_SUBDIVISIONS = 6  # of an icosahedron: 40,962 corners
DISK_CORNERS = 256
PLY = {"float": "<f4", "double": "<f8", "int": "<i4", "uint": "<u4", "uchar": "u1"}


class Refused(Exception):
    pass


def numbers(text):
    return [float(x) for x in text.replace(",", " ").split()]


def ply(path):
    """Corners' properties by name, and the triangles."""
    data = path.read_bytes()
    head, body = data.split(b"end_header\n", 1)
    vertex, count, faces, where = [], 0, 0, None
    for line in head.decode().splitlines():
        word = line.split()
        if word[0] == "element":
            where = word[1]
            count, faces = (int(word[2]), faces) if where == "vertex" else (count, int(word[2]))
        elif word[0] == "property" and where == "vertex":
            vertex.append((word[2], PLY[word[1]]))
    kind = np.dtype(vertex)
    corners = np.frombuffer(body, kind, count)
    triangles = np.frombuffer(body, np.dtype([("n", "u1"), ("at", "<i4", 3)]), faces, count * kind.itemsize)
    if (triangles["n"] != 3).any():
        raise Refused(f"{path.name} has faces that are no triangles")
    return corners, triangles["at"]


class Reader:
    """One scene.xml into Blender's scene."""

    def __init__(self, folder, ask):
        self.folder = Path(folder)
        self.root = ET.parse(self.folder / "scene.xml").getroot()
        self.values = {d.get("name"): d.get("value") for d in self.root.findall("default")}
        self.values.update({k: str(ask[k]) for k in ("width", "height", "spp")})
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.bsdfs = {b.get("id"): b for b in self.root.findall("bsdf")}
        self.materials, self.images, self.groups = {}, {}, {}

    def value(self, element, name, default=None):
        for child in element:
            if child.get("name") == name and child.get("value") is not None:
                text = child.get("value")
                return self.values[text[1:]] if text.startswith("$") else text
        return default

    def number(self, element, name, default=None):
        text = self.value(element, name)
        return default if text is None else float(text)

    def color(self, element, name, default=None):
        text = self.value(element, name)
        if text is None:
            return default
        three = numbers(text)
        return three * 3 if len(three) == 1 else three

    def transform(self, element):
        """The matrix of a to_world of matrices and lookats."""
        at = element.find("transform")
        total = Matrix.Identity(4)
        for step in at if at is not None else []:
            if step.tag == "matrix":
                m = numbers(step.get("value"))
                one = Matrix([m[0:4], m[4:8], m[8:12], m[12:16]])
            elif step.tag == "lookat":
                origin, target, up = (Vector(numbers(step.get(k))) for k in ("origin", "target", "up"))
                ahead = (target - origin).normalized()
                left = up.cross(ahead).normalized()
                one = Matrix([left, ahead.cross(left), ahead]).transposed().to_4x4()
                one.translation = origin
            else:
                raise Refused(f"a transform by {step.tag}")
            total = one @ total
        return total

    # ---- materials ------------------------------------------------------------------------------------

    def image(self, name):
        if name not in self.images:
            self.images[name] = bpy.data.images.load(str(self.folder / name))
            self.images[name].colorspace_settings.name = "Non-Color"  # linear already
        return self.images[name]

    def connect(self, tree, element, name, socket, default):
        """A parameter of a BSDF: a number, a colour or a picture."""
        for child in element.findall("texture"):
            if child.get("name") != name:
                continue
            if child.get("type") != "bitmap":
                raise Refused(f"a texture of type {child.get('type')}")
            node = tree.nodes.new("ShaderNodeTexImage")
            node.image = self.image(self.value(child, "filename"))
            wrap = {"repeat": "REPEAT", "mirror": "MIRROR", "clamp": "EXTEND"}
            node.extension = wrap[self.value(child, "wrap_mode", "repeat")]
            node.interpolation = "Closest" if self.value(child, "filter_type") == "nearest" else "Linear"
            # Rows of a picture go down in Mitsuba and up in Blender: v becomes 1 - v on both sides of its matrix.
            flip = Matrix([[1, 0, 0, 0], [0, -1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
            step = child.find("transform/matrix")
            m = numbers(step.get("value")) if step is not None else [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
            m = flip @ Matrix([m[0:4], m[4:8], m[8:12], m[12:16]])
            uv = tree.nodes.new("ShaderNodeUVMap")
            rows = [tree.nodes.new("ShaderNodeVectorMath") for _ in range(2)]
            joined = tree.nodes.new("ShaderNodeCombineXYZ")
            for r, node_row in enumerate(rows):
                node_row.operation = "DOT_PRODUCT"
                tree.links.new(uv.outputs[0], node_row.inputs[0])
                node_row.inputs[1].default_value = m[r][0:3]
                moved = tree.nodes.new("ShaderNodeMath")
                tree.links.new(node_row.outputs["Value"], moved.inputs[0])
                moved.inputs[1].default_value = m[r][3]
                tree.links.new(moved.outputs[0], joined.inputs[r])
            tree.links.new(joined.outputs[0], node.inputs[0])
            tree.links.new(node.outputs["Color"], socket)
            return
        value = self.color(element, name) if socket.type == "RGBA" else self.number(element, name)
        if value is None:
            value = default
        socket.default_value = [*value, 1] if socket.type == "RGBA" else value

    @staticmethod
    def adds_light(part):
        """Does this input of a list of lobes add to what is reflected? Some only say how another one looks."""
        says_how = {"ior": "spec_trans", "rotation": "anisotropic", "sheen_tint": "sheen", "clearcoat_gloss": "clearcoat"}
        return part.get("name") not in says_how and (part.tag == "texture" or any(numbers(part.get("value"))))

    def bsdf(self, tree, element):
        """The output of nodes for one BSDF."""
        kind = element.get("type")
        if kind == "twosided":
            return self.bsdf(tree, element.find("bsdf"))
        if kind == "isophote_surface":
            # Of rays between a face and its shading normal Cycles thinks otherwise; the judge says whether that shows.
            more = {c.get("name") for c in element} - {"surface"}
            if more:
                raise Refused(f"a surface with {', '.join(sorted(str(m) for m in more))}")
            return self.bsdf(tree, self.bsdfs[element.find("ref").get("id")])
        if kind == "mask":
            mix = tree.nodes.new("ShaderNodeMixShader")
            self.connect(tree, element, "opacity", mix.inputs[0], 1.0)
            inner = element.find("bsdf")
            inner = inner if inner is not None else self.bsdfs[element.find("ref").get("id")]
            tree.links.new(tree.nodes.new("ShaderNodeBsdfTransparent").outputs[0], mix.inputs[1])
            tree.links.new(self.bsdf(tree, inner), mix.inputs[2])
            return mix.outputs[0]
        if kind == "diffuse":
            node = tree.nodes.new("ShaderNodeBsdfDiffuse")
            self.connect(tree, element, "reflectance", node.inputs["Color"], [0.5] * 3)
        elif kind in ("principled", "isophote_principled", "isophote_principled_lobes"):
            known = {"base_color", "metallic", "roughness", "specular"}
            unknown = {c.get("name") for c in element if kind != "isophote_principled_lobes" or self.adds_light(c)} - known
            if unknown:
                raise Refused(f"{kind} with {', '.join(sorted(unknown))}")
            node = tree.nodes.new("ShaderNodeBsdfPrincipled")
            node.inputs["IOR"].default_value = 1.5
            self.connect(tree, element, "base_color", node.inputs["Base Color"], [0.5] * 3)
            self.connect(tree, element, "metallic", node.inputs["Metallic"], 0.0)
            self.connect(tree, element, "roughness", node.inputs["Roughness"], 0.5)
            self.connect(tree, element, "specular", node.inputs["Specular IOR Level"], 0.5)
        elif kind == "conductor" and self.color(element, "eta") is None:
            node = tree.nodes.new("ShaderNodeBsdfAnisotropic")  # Glossy
            node.inputs["Roughness"].default_value = 0
            self.connect(tree, element, "specular_reflectance", node.inputs["Color"], [1.0] * 3)
        elif kind in ("conductor", "isophote_conductor"):
            if self.number(element, "anisotropic", 0):
                raise Refused("an anisotropic conductor")
            node = tree.nodes.new("ShaderNodeBsdfMetallic")
            node.fresnel_type = "PHYSICAL_CONDUCTOR"
            node.inputs["IOR"].default_value = self.color(element, "eta")
            node.inputs["Extinction"].default_value = self.color(element, "k")
            self.connect(tree, element, "roughness", node.inputs["Roughness"], 0.0)
        elif kind == "dielectric":
            node = tree.nodes.new("ShaderNodeBsdfGlass")
            node.inputs["Roughness"].default_value = 0
            node.inputs["IOR"].default_value = self.number(element, "int_ior") / self.number(element, "ext_ior")
            node.inputs["Color"].default_value = (1, 1, 1, 1)
        else:
            raise Refused(f"a BSDF of type {kind}")
        return node.outputs[0]

    def material(self, shape):
        element, emitter = shape.find("bsdf"), shape.find("emitter")
        ref = shape.find("ref")
        if element is None and ref is not None:
            element = self.bsdfs[ref.get("id")]
        key = (id(element), ET.tostring(emitter) if emitter is not None else None)
        if key in self.materials:
            return self.materials[key]
        material = bpy.data.materials.new("m")
        if material.node_tree is None:
            material.use_nodes = True
        tree = material.node_tree
        tree.nodes.clear()
        if element is None:
            raise Refused("a shape without a BSDF")
        shader = self.bsdf(tree, element)
        if emitter is not None:
            if emitter.get("type") != "area" or emitter.find("texture") is not None:
                raise Refused(f"an emitter of type {emitter.get('type')}, or with a texture")
            # Light leaves the front alone.
            side, front = tree.nodes.new("ShaderNodeNewGeometry"), tree.nodes.new("ShaderNodeMath")
            front.operation = "SUBTRACT"
            front.inputs[0].default_value = 1
            tree.links.new(side.outputs["Backfacing"], front.inputs[1])
            glow, both = tree.nodes.new("ShaderNodeEmission"), tree.nodes.new("ShaderNodeAddShader")
            glow.inputs["Color"].default_value = [*self.color(emitter, "radiance"), 1]
            tree.links.new(front.outputs[0], glow.inputs["Strength"])
            tree.links.new(shader, both.inputs[0])
            tree.links.new(glow.outputs[0], both.inputs[1])
            shader = both.outputs[0]
            material.cycles.emission_sampling = "FRONT"
        tree.links.new(shader, tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
        self.materials[key] = material
        return material

    # ---- shapes, lights, camera -----------------------------------------------------------------------

    def mesh(self, shape):
        kind, place = shape.get("type"), self.transform(shape)
        mesh = bpy.data.meshes.new("s")
        if kind == "ply":
            corners, triangles = ply(self.folder / self.value(shape, "filename"))
            mesh.vertices.add(len(corners))
            mesh.vertices.foreach_set("co", np.stack([corners[a] for a in "xyz"], 1).astype(np.float32).ravel())
            mesh.loops.add(triangles.size)
            mesh.loops.foreach_set("vertex_index", triangles.ravel())
            mesh.polygons.add(len(triangles))
            mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
            smooth = self.value(shape, "face_normals", "false") != "true" and "nx" in corners.dtype.names
            mesh.polygons.foreach_set("use_smooth", np.full(len(triangles), smooth))
            if "u" in corners.dtype.names:
                layer = mesh.uv_layers.new(name="uv")
                uv = np.stack([corners["u"], corners["v"]], 1)[triangles.ravel()]
                layer.data.foreach_set("uv", uv.astype(np.float32).ravel())
            mesh.update(calc_edges=True)
            if smooth:
                mesh.normals_split_custom_set_from_vertices(np.stack([corners[a] for a in ("nx", "ny", "nz")], 1))
        elif kind == "sphere":
            import bmesh

            ball = bmesh.new()
            bmesh.ops.create_icosphere(ball, subdivisions=SPHERE_SUBDIVISIONS, radius=self.number(shape, "radius", 1.0))
            ball.to_mesh(mesh)
            ball.free()
            mesh.polygons.foreach_set("use_smooth", np.full(len(mesh.polygons), True))
            place = place @ Matrix.Translation(Vector(numbers(self.point(shape, "center"))))
            if self.value(shape, "flip_normals", "false") == "true":
                mesh.flip_normals()
        elif kind == "disk":
            turn = [2 * math.pi * i / DISK_CORNERS for i in range(DISK_CORNERS)]
            mesh.from_pydata([(math.cos(a), math.sin(a), 0) for a in turn], [], [range(DISK_CORNERS)])
        else:
            raise Refused(f"a shape of type {kind}")
        mesh.materials.append(self.material(shape))
        return mesh, place

    def point(self, element, name):
        for child in element.findall("point"):
            if child.get("name") == name:
                return child.get("value") or " ".join(child.get(a) for a in "xyz")
        return "0 0 0"

    def shapes(self):
        for shape in self.root.findall("shape"):
            if shape.get("type") == "shapegroup":
                self.groups[shape.get("id")] = [self.mesh(inner) for inner in shape.findall("shape")]
        for shape in self.root.findall("shape"):
            if shape.get("type") == "shapegroup":
                continue
            if shape.get("type") == "instance":
                outer = self.transform(shape)
                placed = [(mesh, outer @ inner) for mesh, inner in self.groups[shape.find("ref").get("id")]]
            else:
                placed = [self.mesh(shape)]
            for mesh, place in placed:
                thing = bpy.data.objects.new("o", mesh)
                thing.matrix_world = place
                self.scene.collection.objects.link(thing)

    def lights(self):
        world = bpy.data.worlds.new("w")
        self.scene.world = world
        if world.node_tree is None:
            world.use_nodes = True
        tree = world.node_tree
        tree.nodes.clear()
        sky = tree.nodes.new("ShaderNodeBackground")
        sky.inputs["Color"].default_value = (0, 0, 0, 1)
        tree.links.new(sky.outputs[0], tree.nodes.new("ShaderNodeOutputWorld").inputs["Surface"])
        for emitter in self.root.findall("emitter"):
            kind = emitter.get("type")
            if kind == "constant":
                sky.inputs["Color"].default_value = [*self.color(emitter, "radiance"), 1]
            elif kind == "envmap":
                # Mitsuba looks a direction up about +y, from -z; Cycles about +z, from -x: (z, x, y) is what it must see.
                turn = Matrix([(0, 0, 1), (1, 0, 0), (0, 1, 0)]) @ self.transform(emitter).to_3x3().inverted()
                if turn.determinant() < 0:
                    raise Refused("a mirrored environment")
                where, turned = tree.nodes.new("ShaderNodeTexCoord"), tree.nodes.new("ShaderNodeMapping")
                turned.vector_type = "POINT"
                turned.inputs["Rotation"].default_value = turn.to_euler("XYZ")
                picture = tree.nodes.new("ShaderNodeTexEnvironment")
                picture.image = self.image(self.value(emitter, "filename"))
                tree.links.new(where.outputs["Generated"], turned.inputs[0])
                tree.links.new(turned.outputs[0], picture.inputs[0])
                tree.links.new(picture.outputs[0], sky.inputs["Color"])
                sky.inputs["Strength"].default_value = self.number(emitter, "scale", 1.0)
            elif kind == "directional":
                light = bpy.data.lights.new("l", "SUN")
                light.angle = 0
                power = self.color(emitter, "irradiance")
                light.energy, light.color = max(power), [c / max(power) for c in power]
                sun = bpy.data.objects.new("l", light)
                vector = next(c for c in emitter if c.get("name") == "direction")
                ray = Vector(numbers(vector.get("value")))
                sun.rotation_euler = ray.to_track_quat("-Z", "Y").to_euler()
                self.scene.collection.objects.link(sun)
            else:
                raise Refused(f"an emitter of type {kind}")

    def camera(self):
        sensor = self.root.find("sensor")
        if sensor.get("type") != "perspective":
            raise Refused(f"a camera of type {sensor.get('type')}")
        if sensor.find("film/rfilter").get("type") != "box":
            raise Refused("a film whose filter is no box")
        data = bpy.data.cameras.new("c")
        wide = int(self.values["width"]) >= int(self.values["height"])
        axis = {"smaller": "y" if wide else "x", "larger": "x" if wide else "y"}
        axis = axis.get(self.value(sensor, "fov_axis", "x"), self.value(sensor, "fov_axis", "x"))
        data.sensor_fit = {"x": "HORIZONTAL", "y": "VERTICAL"}[axis]
        data.angle = math.radians(self.number(sensor, "fov"))
        data.clip_start, data.clip_end = 1e-6, 1e9
        m = self.transform(sensor)  # columns: left, up, ahead
        ahead, up = Vector(m.col[2][:3]).normalized(), Vector(m.col[1][:3]).normalized()
        right = ahead.cross(up)
        place = Matrix([right, right.cross(ahead), -ahead]).transposed().to_4x4()
        place.translation = m.translation
        thing = bpy.data.objects.new("c", data)
        thing.matrix_world = place
        self.scene.collection.objects.link(thing)
        self.scene.camera = thing

    def settings(self, device):
        scene, render = self.scene, self.scene.render
        render.engine = "CYCLES"
        cycles = scene.cycles
        if device != "CPU":
            preferences = bpy.context.preferences.addons["cycles"].preferences
            preferences.compute_device_type = device
            preferences.get_devices()
            for d in preferences.devices:
                d.use = d.type == device
            if not any(d.use for d in preferences.devices):
                raise Refused(f"Cycles finds no device of type {device}")
            cycles.device = "GPU"
        bounces = int(self.values["max_depth"]) - 1
        cycles.samples = int(self.values["spp"])
        cycles.use_adaptive_sampling = cycles.use_denoising = False
        cycles.max_bounces = cycles.diffuse_bounces = cycles.glossy_bounces = cycles.transmission_bounces = bounces
        cycles.transparent_max_bounces = 64
        cycles.min_light_bounces = min(bounces, int(self.values["rr_depth"]))
        cycles.sample_clamp_direct = cycles.sample_clamp_indirect = cycles.blur_glossy = 0
        cycles.light_sampling_threshold = 0
        cycles.pixel_filter_type = "BOX"
        render.resolution_x, render.resolution_y = int(self.values["width"]), int(self.values["height"])
        render.resolution_percentage = 100
        render.use_persistent_data = True  # so that a second render need not build the scene again
        render.image_settings.file_format = "OPEN_EXR"
        render.image_settings.color_depth = "32"
        scene.view_settings.view_transform = "Raw"

    def read(self, device):
        unknown = {c.tag for c in self.root} - {"default", "integrator", "sensor", "bsdf", "shape", "emitter"}
        if unknown:
            raise Refused(f"a scene with {', '.join(sorted(unknown))}")
        self.lights()
        self.shapes()
        self.camera()
        self.settings(device)


def render(ask):
    scene = bpy.context.scene
    scene.cycles.seed = ask["seed"]
    picture = Path(ask["out"]).with_suffix(".exr")
    scene.render.filepath = str(picture)
    begin = time.perf_counter()
    bpy.ops.render.render(write_still=True)
    seconds = time.perf_counter() - begin
    image = bpy.data.images.load(str(picture))
    image.colorspace_settings.name = "Non-Color"
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    np.save(ask["out"], pixels.reshape(image.size[1], image.size[0], 4)[::-1, :, :3])  # rows from the top
    bpy.data.images.remove(image)
    picture.unlink()
    return seconds


def main():
    # Blender says much on standard output, which is for answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tell = lambda x: print(json.dumps(x), file=answers, flush=True)  # noqa: E731
    tell({"name": "Cycles", "version": bpy.app.version_string})
    folder = None
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            if folder != ask["folder"]:
                folder = None
                Reader(ask["folder"], ask).read(sys.argv[1])
                folder = ask["folder"]
            tell({"seconds": render(ask)})
        except Refused as e:
            tell({"error": f"Cycles has no counterpart for {e}"})
        except Exception as e:
            tell({"error": f"{type(e).__name__}: {e}"[:200]})


if __name__ == "__main__":
    main()
