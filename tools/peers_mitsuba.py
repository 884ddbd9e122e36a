# SPDX-License-Identifier: Apache-2.0
"""Mitsuba 3 as a worker of tools/peers: peers_mitsuba.py VARIANT. The protocol is in peers.py."""
import json
import sys
import time
from pathlib import Path


def main():
    import mitsuba as mi
    import numpy as np

    mi.set_variant(sys.argv[1])
    import drjit as dr

    print(json.dumps({"name": "Mitsuba", "version": mi.__version__}), flush=True)
    folder = scene = None
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            if folder != ask["folder"]:
                # Each folder's plugins are the same file of ours: the first is as good as the next.
                if (Path(ask["folder"]) / "isophote_bsdfs.py").exists() and "isophote_bsdfs" not in sys.modules:
                    sys.path.insert(0, ask["folder"])
                    import isophote_bsdfs  # noqa: F401
                scene = mi.load_file(ask["folder"] + "/scene.xml", width=ask["width"], height=ask["height"], spp=ask["spp"])
                folder = ask["folder"]
            begin = time.perf_counter()
            image = mi.render(scene, spp=ask["spp"], seed=ask["seed"])
            dr.eval(image)
            dr.sync_thread()
            seconds = time.perf_counter() - begin
            np.save(ask["out"], np.array(image, dtype=np.float32)[:, :, :3])
            answer = {"seconds": seconds}
        except Exception as e:  # of whatever kind: a scene that it cannot take is a row
            answer = {"error": str(e).strip().splitlines()[-1][:200] if str(e).strip() else repr(e)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
