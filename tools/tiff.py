# SPDX-License-Identifier: Apache-2.0
"""Reads the TIFF files that OpenImageIO writes: one image, strips or tiles, grey to many channels, 8 and 16 bit and float."""
import array
import dataclasses
import struct
import sys
import zlib


class Unreadable(Exception):
    pass


@dataclasses.dataclass
class Image:
    shape: tuple  # width, height, channels
    values: list  # floats, row by row; whole numbers as shares of the largest


def lzw(data):
    out, table, width, code, bits, previous = bytearray(), [], 9, 0, 0, None
    for byte in data:
        code = code << 8 | byte
        bits += 8
        while bits >= width:
            bits -= width
            c = code >> bits & (1 << width) - 1
            code &= (1 << bits) - 1
            if c == 257:
                return bytes(out)
            if c == 256:
                table, width, previous = [bytes([i]) for i in range(256)] + [b"", b""], 9, None
                continue
            entry = table[c] if c < len(table) else previous + previous[:1]
            out += entry
            if previous is not None:
                table.append(previous + entry[:1])
            previous = entry
            if len(table) + 1 >= 1 << width and width < 12:
                width += 1
    return bytes(out)


def entries(data):
    """The tags of the first directory: {tag: list of numbers}."""
    if data[:4] not in (b"II*\0", b"MM\0*"):
        raise Unreadable("no TIFF file")
    order = "<" if data[:1] == b"I" else ">"
    at = struct.unpack(order + "I", data[4:8])[0]
    tags = {}
    for i in range(struct.unpack_from(order + "H", data, at)[0]):
        tag, kind, count = struct.unpack_from(order + "HHI", data, at + 2 + 12 * i)
        letter = {1: "B", 3: "H", 4: "I"}.get(kind)
        if letter:
            form = f"{order}{count}{letter}"
            place = at + 10 + 12 * i
            if struct.calcsize(form) > 4:
                place = struct.unpack_from(order + "I", data, place)[0]
            tags[tag] = list(struct.unpack_from(form, data, place))
    return order, tags


def unpredict(block, predictor, order, width, samples, size):
    """Undoes differences along each row: of whole numbers (2), or of the planes of a float's bytes (3)."""
    row = width * samples * size
    out = bytearray()
    for start in range(0, len(block) - row + 1, row):
        line = block[start:start + row]
        if predictor == 3:
            line = bytearray(line)
            for i in range(samples, row):
                line[i] = line[i] + line[i - samples] & 255
            n = width * samples
            planes = [line[k * n:(k + 1) * n] for k in range(size)]
            if order == "<":
                planes.reverse()
            out += bytes(b for number in zip(*planes) for b in number)
        else:
            v = list(struct.unpack(f"{order}{width * samples}{'BHxI'[size - 1]}", line))
            for i in range(samples, len(v)):
                v[i] = v[i] + v[i - samples] & (1 << 8 * size) - 1
            out += struct.pack(f"{order}{width * samples}{'BHxI'[size - 1]}", *v)
    return bytes(out)


def read(path):
    data = path.read_bytes()
    order, t = entries(data)
    width, height, samples = t[256][0], t[257][0], t.get(277, [1])[0]
    bits, kind = t.get(258, [1])[0], t.get(339, [1])[0]
    compression, predictor = t.get(259, [1])[0], t.get(317, [1])[0]
    if t.get(284, [1])[0] != 1 and samples > 1:
        raise Unreadable("separate planes")
    letter = {(8, 1): "B", (16, 1): "H", (32, 1): "I", (16, 3): "e", (32, 3): "f"}.get((bits, kind))
    if not letter:
        raise Unreadable(f"{bits} bits of kind {kind}")
    tiled = 324 in t
    bw, bh = (t[322][0], t[323][0]) if tiled else (width, min(t.get(278, [height])[0], height))
    size = bits // 8
    across = (width + bw - 1) // bw
    pixels = bytearray(width * height * samples * size)
    for k, (at, length) in enumerate(zip(t[324 if tiled else 273], t[325 if tiled else 279])):
        block = data[at:at + length]
        if compression == 5:
            block = lzw(block)
        elif compression in (8, 32946):
            block = zlib.decompress(block)
        elif compression != 1:
            raise Unreadable(f"compression {compression}")
        if predictor > 1:
            block = unpredict(block, predictor, order, bw, samples, size)
        x, y = k % across * bw, k // across * bh
        w = min(bw, width - x)
        for j in range(min(bh, height - y)):
            line = block[j * bw * samples * size:][:w * samples * size]
            place = ((y + j) * width + x) * samples * size
            pixels[place:place + len(line)] = line
    if letter == "e":
        values = [v[0] for v in struct.iter_unpack(order + "e", pixels)]
    else:
        values = array.array(letter, bytes(pixels))
        if (order == "<") != (sys.byteorder == "little"):
            values.byteswap()
        full = 1 if kind == 3 else (1 << bits) - 1
        values = [v / full for v in values]
    return Image((width, height, samples), values)
