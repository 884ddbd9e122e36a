# SPDX-License-Identifier: Apache-2.0
"""The BSDFs of scenes/export/isophote_bsdfs.py, which mitsuba_compare.py holds against our pictures, against those that
Mitsuba 3 has itself: lobe by lobe, at random parameters and directions. What the two do not share is put in here, and
nothing else: Smith's height-correlated masking, and the 1/(4 cos cos) that Mitsuba's clearcoat lacks.
"""

import numpy as np

DIRECTIONS = 4096
# GGX's density multiplies the rounding of h, some 2^-22, by up to 4/alpha^2: 1600 where alpha is 0.05, which none here is below.
TOLERANCE = 1e-3
# A lobe that comes as a difference of two values has their rounding, a thousandth of the tolerance above for smooth ones.
CANCELLATION = 1e-6


class Models:
    def __init__(self, mi, dr, seed):
        self.mi, self.dr = mi, dr
        self.rng = np.random.default_rng(seed)
        self.ctx = mi.BSDFContext()

    def directions(self, above):
        z, phi = self.rng.uniform(0.02, 1, DIRECTIONS), self.rng.uniform(0, 2 * np.pi, DIRECTIONS)
        r = np.sqrt(1 - z * z)
        return np.stack([r * np.cos(phi), r * np.sin(phi), z if above else -z])

    def eval(self, model, wi, wo):
        """f |cos|, channels last. model: type and parameters."""
        plugin = {k: {"type": "rgb", "value": list(v)} if isinstance(v, (list, np.ndarray)) else v for k, v in model.items()}
        si = self.dr.zeros(self.mi.SurfaceInteraction3f, DIRECTIONS)
        si.wi = self.mi.Vector3f(wi)
        return np.array(self.mi.load_dict(plugin).eval(self.ctx, si, self.mi.Vector3f(wo)), np.float64).T

    @staticmethod
    def correlated(wi, wo, ax, ay):
        """Over separable masking: (1 + Li)(1 + Lo)/(1 + Li + Lo)."""
        li, lo = (0.5 * (np.sqrt(1 + ((ax * w[0]) ** 2 + (ay * w[1]) ** 2) / w[2] ** 2) - 1) for w in (wi, wo))
        return ((1 + li) * (1 + lo) / (1 + li + lo))[:, None]

    def cases(self):
        """(name, ours, theirs, what rounding is relative to)."""
        number = self.rng.uniform
        roughness, anisotropy, tint, eta = number(0.4, 1), number(0, 0.9), number(), number(1.1, 2.2)
        aspect, base = np.sqrt(1 - 0.9 * anisotropy), number(0.1, 0.9, 3)
        ax, ay = roughness**2 / aspect, roughness**2 * aspect
        wi, wo = self.directions(True), self.directions(True)
        rough = {"base_color": base, "roughness": roughness}

        def both(**inputs):
            return [self.eval({"type": name} | rough | inputs, wi, wo) for name in ("isophote_principled_lobes", "principled")]

        (ours, theirs), masking = both(metallic=1.0, anisotropic=anisotropy), self.correlated(wi, wo, ax, ay)
        yield "metallic, anisotropic", ours, theirs * masking, ours
        plain = both(clearcoat_gloss=tint)
        for name, factor in (("sheen", 1), ("clearcoat", 1 / (4 * wi[2] * wo[2])[:, None])):
            whole = both(clearcoat_gloss=tint, **{name: 1.0}, **({"sheen_tint": tint} if name == "sheen" else {}))
            theirs = (whole[1] - plain[1]) * factor
            yield name, whole[0] - plain[0], theirs, (whole[0] + whole[1] * factor) * CANCELLATION / TOLERANCE + abs(theirs)
        dark = both(base_color=np.zeros(3), clearcoat_gloss=tint)
        yield "diffuse", plain[0] - dark[0], plain[1] - dark[1], (plain[0] + plain[1]) * CANCELLATION / TOLERANCE + abs(plain[0] - dark[0])
        flat = both(flatness=tint)
        yield "subsurface", flat[0] - plain[0], flat[1] - plain[1], (flat[0] + flat[1]) * CANCELLATION / TOLERANCE + abs(flat[0] - plain[0])
        e, k = number(0.1, 3, 3), number(0, 5, 3)
        conductor = {"type": "isophote_conductor", "eta": e, "k": k, "roughness": roughness, "anisotropic": anisotropy}
        theirs = {"type": "roughconductor", "distribution": "ggx", "alpha_u": ax, "alpha_v": ay, "eta": e, "k": k}
        ours = self.eval(conductor, wi, wo)
        yield "rough conductor", ours, self.eval(theirs, wi, wo) * masking, ours
        for above, below in ((True, True), (True, False), (False, True), (False, False)):
            wi, wo = self.directions(above), self.directions(below)
            glass = {"base_color": base, "roughness": roughness, "anisotropic": anisotropy, "spec_trans": 1.0}
            ours = self.eval({"type": "isophote_principled_lobes", "ior": eta, "specular": 0.0} | glass, wi, wo)
            theirs = self.eval({"type": "principled", "eta": eta} | glass, wi, wo) * self.correlated(wi, wo, ax, ay)
            yield f"transmission, {'front' if above else 'back'} to {'front' if below else 'back'}", ours, theirs, ours

    def white_furnace(self, roughness, degrees, samples=1 << 20):
        """The share of white light that Mitsuba's white principled gives back to a view, and its standard error."""
        theta = np.radians(degrees)
        si = self.dr.zeros(self.mi.SurfaceInteraction3f, samples)
        si.wi = self.mi.Vector3f(float(np.sin(theta)), 0.0, float(np.cos(theta)))
        model = {"type": "principled", "roughness": roughness, "base_color": {"type": "rgb", "value": [1.0, 1.0, 1.0]}}
        u = self.rng.random((3, samples), dtype=np.float32)
        sample, weight = self.mi.load_dict(model).sample(self.ctx, si, self.mi.Float(u[0]), self.mi.Point2f(u[1:]))
        weight = np.array(weight)[1] * (np.array(sample.pdf) > 0)
        return weight.mean(), weight.std() / samples**0.5


def print_white_furnace(mi, dr):
    """Burley's model returns more than it gets, in Mitsuba as here (docs/explanation/validation.md, "White furnaces")."""
    models = Models(mi, dr, 0)
    for roughness in (0.5, 1.0):
        shares = [models.white_furnace(roughness, degrees) for degrees in (0, 60, 85)]
        print(f"Mitsuba's principled, base_color 1, roughness {roughness}, at 0, 60, 85 degrees:", ", ".join(f"{m:.4f} +- {e:.4f}" for m, e in shares))


def check(mi, dr):
    """Prints a line for each lobe; whether all agree."""
    print_white_furnace(mi, dr)
    largest = {}
    for seed in range(2):
        for name, ours, theirs, scale in Models(mi, dr, seed).cases():
            error = np.abs(ours - theirs) / np.maximum(np.abs(scale), 1e-5 * np.abs(ours).max())
            largest[name] = max(largest.get(name, 0), error.max())
    for name, error in largest.items():
        print(f"model {name:32} largest error {error:.1e} of {TOLERANCE:.0e}  {'ok' if error <= TOLERANCE else 'DIFFERS'}", flush=True)
    return max(largest.values()) <= TOLERANCE
