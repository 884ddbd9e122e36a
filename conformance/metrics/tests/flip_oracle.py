# SPDX-License-Identifier: Apache-2.0
"""FLIP by its authors' package (flip-evaluator), for flip_test: python flip_oracle.py FOLDER

Each FOLDER/NAME.pair is a line "LDR|HDR width height", then the picture and the reference as little-endian
float32 linear RGB. Prints "NAME mean start stop count" a pair and writes the map as float32 to FOLDER/NAME.map.
"""
import pathlib
import sys

import flip_evaluator
import numpy

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pair")):
    head, data = path.read_bytes().split(b"\n", 1)
    kind, width, height = head.decode().split()
    pair = numpy.frombuffer(data, "<f4").reshape(2, int(height), int(width), 3)
    flip_map, mean, used = flip_evaluator.evaluate(
        pair[1].copy(), pair[0].copy(), kind, inputsRGB=False, applyMagma=False
    )
    flip_map = numpy.asarray(flip_map, "<f4")
    (flip_map[..., 0] if flip_map.ndim == 3 else flip_map).tofile(path.with_suffix(".map"))
    print(path.stem, repr(float(mean)), used.get("startExposure", 0), used.get("stopExposure", 0), used.get("numExposures", 1))
