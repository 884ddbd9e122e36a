# SPDX-License-Identifier: Apache-2.0
"""image_figures.py ISOPHOTE [options]: what loading textures costs. Makes an RGB picture of 8192 x 8192 (waves under
noise) in every format and compression, loads each as the texture of a scene and prints a table of Markdown: seconds
(the least of a few turns) and the same over the time of copying as many bytes as the texels have. Needs numpy, Pillow
and OpenEXR from PyPI for pictures that are not in --folder.
Without those: `ninja -C build/release pictures_generator`, `build/release/scenes/pictures_generator FOLDER`, then
`image_figures.py ISOPHOTE --folder FOLDER --there`."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib

try:
    import numpy as np
except ImportError:  # then the pictures are there already
    np = None

EXR = {"none": "NO", "rle": "RLE", "zips": "ZIPS", "zip": "ZIP", "piz": "PIZ", "pxr24": "PXR24", "b44": "B44",
       "b44a": "B44A", "dwaa": "DWAA", "dwab": "DWAB"}


def picture(side):
    """Linear, 0.1 to 0.9, float32: waves and noise of 1/512."""
    dice = np.random.default_rng(7)
    x = np.arange(side, dtype=np.float32) / side
    out = dice.random((side, side, 3), dtype=np.float32)
    out -= 0.5
    out *= 1 / 256
    for c in range(3):
        wave = np.sin(40 * x + c)[None, :] * np.cos(31 * x - c)[:, None]
        out[:, :, c] += 0.5 + 0.39 * wave.astype(np.float32)
    return out


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png16(path, image):
    """Filters by turns, so that every one of the first three is there: None, Sub, Up."""
    values = np.round(image * 65535).astype(">u2")
    side = values.shape[0]
    rows = values.reshape(side, -1).view(np.uint8)
    pack = zlib.compressobj(6)
    parts = []
    for y in range(side):
        row = rows[y].copy()
        if y % 8 == 1:
            row[6:] -= rows[y][:-6]
        elif y % 8:
            row -= rows[y - 1]
        filtered = 0 if y % 8 == 0 else 1 if y % 8 == 1 else 2
        parts.append(pack.compress(bytes([filtered]) + row.tobytes()))
    parts.append(pack.flush())
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(png_chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 16, 2, 0, 0, 0)))
        f.write(png_chunk(b"IDAT", b"".join(parts)))
        f.write(png_chunk(b"IEND", b""))


def write_hdr(path, image):
    """Plain RGBE."""
    _, exponent = np.frexp(image.max(axis=2))
    rgbe = np.empty(image.shape[:2] + (4,), np.uint8)
    rgbe[:, :, :3] = np.ldexp(image, (8 - exponent)[:, :, None])
    rgbe[:, :, 3] = exponent + 128
    with open(path, "wb") as f:
        f.write(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % image.shape[:2])
        f.write(rgbe.tobytes())


def write_exr(path, image, kind, compression):
    import OpenEXR

    header = {"compression": getattr(OpenEXR, EXR[compression] + "_COMPRESSION"), "type": OpenEXR.scanlineimage}
    pixels = image.astype(np.float16) if kind == "half" else image
    OpenEXR.File(header, {"RGB": pixels}).write(path)


def write_plain(path, image):
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    options = {"quality": 92} if path.endswith(".jpg") else {}
    if path.endswith(".tif"):
        options["compression"] = "tiff_lzw" if "lzw" in path else "tiff_adobe_deflate"
    Image.fromarray(np.round(image * 255).astype(np.uint8)).save(path, **options)


def formats():
    """(file name, words, bytes of a texel's channel, writer)"""
    for name, words in (
        ("rgb.tga", "TGA"),
        ("rgb.jpg", "JPEG"),
        ("rgb8.png", "PNG, 8 bits"),
        ("rgb8-lzw.tif", "TIFF, 8 bits, LZW"),
        ("rgb8-deflate.tif", "TIFF, 8 bits, deflate"),
    ):
        yield name, words, 1, write_plain
    yield "rgb16.png", "PNG, 16 bits", 2, write_png16
    yield "rgb.hdr", "HDR, plain", 4, write_hdr
    for kind in ("half", "float"):
        for c in EXR:
            if kind == "float" and c in ("b44", "b44a", "dwaa", "dwab"):
                continue  # what these do to float is nothing, or what they do to half
            yield f"{kind}-{c}.exr", f"EXR, {kind}, {c.upper()}", 2 if kind == "half" else 4, (
                lambda path, image, kind=kind, c=c: write_exr(path, image, kind, c)
            )


def load_seconds(isophote, folder, name):
    scene = {
        "isophote": 1,
        "camera": {"origin": [0, 0, 3], "target": [0, 0, 0]},
        "film": {"width": 8, "height": 8},
        "textures": {"t": {"file": name}},
        "materials": {"m": {"type": "diffuse", "reflectance": {"texture": "t"}}},
        "objects": [{"type": "rectangle", "material": "m"}],
        "environment": {"radiance": 1},
    }
    path = os.path.join(folder, "texture.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scene, f)
    command = [isophote, "render", path, "--spp", "1", "--json", "-o", os.path.join(folder, "out.pfm")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{name}: {run.stderr}")
    return find_key(json.loads(run.stdout), "textures_s")


def find_key(value, key):
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    for v in value if isinstance(value, list) else ():
        found = find_key(v, key)
        if found is not None:
            return found
    return None


def copy_seconds(size):
    """Copying `size` bytes into memory that is new, as a reader's is."""
    old = b"\1" * size
    best = 1e9
    for _ in range(3):
        start = time.perf_counter()
        bytearray(old)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("isophote")
    p.add_argument("--side", type=int, default=8192)
    p.add_argument("--turns", type=int, default=3)
    p.add_argument("--only", default="", help="names that contain one of these words, separated by commas")
    p.add_argument("--folder", help="where the pictures stand and stay; default: a folder that is removed")
    p.add_argument("--make-only", action="store_true")
    p.add_argument("--there", action="store_true", help="only pictures that are in --folder already")
    args = p.parse_args()
    scratch = None if args.folder else tempfile.TemporaryDirectory()
    folder = args.folder or scratch.name
    os.makedirs(folder, exist_ok=True)
    wanted = [w for w in args.only.split(",") if w]
    rows = [f for f in formats() if not wanted or any(w in f[0] for w in wanted)]
    if args.there:
        rows = [f for f in rows if os.path.exists(os.path.join(folder, f[0]))]
    missing = [f for f in rows if not os.path.exists(os.path.join(folder, f[0]))]
    image = picture(args.side) if missing else None
    for name, _, _, write in missing:
        write(os.path.join(folder, name), image)
    del image
    if args.make_only:
        return
    copies = {n: copy_seconds(3 * n * args.side**2) for n in sorted({f[2] for f in rows})}
    print("| | MB | s | of a copy |\n|---|---|---|---|")
    for name, words, channel, _ in rows:
        path = os.path.join(folder, name)
        seconds = min(load_seconds(args.isophote, folder, name) for _ in range(args.turns))
        size = os.path.getsize(path) / 1e6
        print(f"| {words} | {size:.0f} | {seconds:.2f} | {seconds / copies[channel]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
