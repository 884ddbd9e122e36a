# SPDX-License-Identifier: Apache-2.0
"""What docs/reference/protocol.md has and Mitsuba 3 has not, as plugins of Mitsuba's.

    import mitsuba as mi
    mi.set_variant("llvm_ad_rgb")      # or scalar_rgb, which is slow with plugins in Python
    import isophote_bsdfs              # after the variant is chosen
    scene = mi.load_file("scene.xml")

`isophote export --mitsuba SCENE --plugins` puts this file beside the scene. The distribution of normals and its
sampling are Mitsuba's own; masking, Fresnel terms and the diffuse term are those of the protocol's section 7:

  isophote_conductor   GGX, complex index, Smith's height-correlated masking; roughness, whose square is alpha, and
                       anisotropy, turned by rotation
  isophote_principled_lobes  the list of lobes of sections 21 and 28: tints, anisotropy, sheen, clearcoat, transmission,
                       subsurface
  isophote_principled  that with Schlick's Fresnel term from F0 = lerp(0.08 specular, base, metallic), and Burley's diffuse term
  isophote_correlated  a BSDF of Mitsuba's whose masking is separable, times the ratio of the two
  isophote_oren_nayar  Oren and Nayar's qualitative model (section 21, O)
  isophote_sheen       Conty and Kulla's sheen (section 21, H)
  isophote_surface     a BSDF where shapes differ: rays between the plane of a face and that of its shading normal go
                       by the face (sections 4, 6 and 7); texture coordinates and frames of disks; normal maps (26)
  isophote_single_sided  a BSDF for the front; from behind the surface is not there (section 26; needs volpath)
  isophote_area        an area light that may shine to both sides; texture coordinates of disks
  isophote_spot        a spot light that falls off by the smooth step of the cosine (section 24)
  isophote_alpha       the square of a bitmap of roughness
  isophote_colored     a colour or bitmap times the vertices' colours
  isophote_texture     a bitmap whose axes may wrap differently, clamped after interpolation
"""
import drjit as dr
import mitsuba as mi


def _alpha(roughness):
    return dr.maximum(dr.square(roughness), 0.001)


def _schlick(x):
    m = dr.clip(1 - x, 0, 1)
    return dr.square(dr.square(m)) * m


def _luminance(c):
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]


def _facets(ax, ay):
    return mi.MicrofacetDistribution(mi.MicrofacetType.GGX, ax, ay, True)


def _masking_term(w, ax, ay):
    """Lambda of Smith's masking for GGX."""
    return 0.5 * (dr.sqrt(1 + (dr.square(ax * w.x) + dr.square(ay * w.y)) / dr.square(w.z)) - 1)


def _alphas(roughness, anisotropy):
    """Section 21, principled."""
    aspect = dr.sqrt(1 - 0.9 * anisotropy)
    return dr.maximum(dr.square(roughness) / aspect, 0.001), dr.maximum(dr.square(roughness) * aspect, 0.001)


class _Turn:
    """The frame in which a list of lobes lies: turned to wi's side about s, and by rotation counter-clockwise."""

    def __init__(self, wi, rotation):
        self.back = wi.z < 0
        self.s, self.c = dr.sincos(2 * dr.pi * rotation)

    def into(self, w):
        y, z = dr.select(self.back, -w.y, w.y), dr.select(self.back, -w.z, w.z)
        return mi.Vector3f(self.c * w.x + self.s * y, self.c * y - self.s * w.x, z)

    def out(self, w):
        x, y = self.c * w.x - self.s * w.y, self.s * w.x + self.c * w.y
        return mi.Vector3f(x, dr.select(self.back, -y, y), dr.select(self.back, -w.z, w.z))


class _Facets(mi.BSDF):
    """Reflection to the front side, with microfacets; what follows says the rest."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.m_components = [mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide]
        self.m_flags = self.m_components[0]

    def specular(self, ax, ay, wi, wo):
        """D G2 / (4 cos_i) and the density of sampling by visible normals, where both are in front; h."""
        h = dr.normalize(wi + wo)
        li, lo = _masking_term(wi, ax, ay), _masking_term(wo, ax, ay)
        d = _facets(ax, ay).eval(h) / (4 * wi.z)
        return d / (1 + li + lo), d / (1 + li), h

    def front(self, si, wo):
        return (si.wi.z > 0) & (wo.z > 0)

    def eval(self, ctx, si, wo, active=True):
        return self.eval_pdf(ctx, si, wo, active)[0]

    def pdf(self, ctx, si, wo, active=True):
        return self.eval_pdf(ctx, si, wo, active)[1]

    def weigh(self, ctx, si, wo, active):
        """A sample of a direction, weighed by evaluating it."""
        bs = mi.BSDFSample3f()
        f, pdf = self.eval_pdf(ctx, si, wo, active)
        good = active & (pdf > 0)
        bs.wo, bs.pdf, bs.eta = wo, dr.select(good, pdf, 0), 1.0
        bs.sampled_type = +mi.BSDFFlags.GlossyReflection
        bs.sampled_component = 0
        return bs, dr.select(good, f / dr.select(good, pdf, 1), 0)


class Conductor(_Facets):
    def __init__(self, props):
        super().__init__(props)
        self.eta, self.k = props.get_unbounded_texture("eta"), props.get_unbounded_texture("k")
        self.roughness = props.get_texture("roughness", 0.5)
        self.anisotropy = props.get_texture("anisotropic", 0.0)
        self.rotation = props.get_texture("rotation", 0.0)
        self.m_components = [mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide | mi.BSDFFlags.BackSide]
        self.m_flags = self.m_components[0]

    def place(self, si, active):
        turn = _Turn(si.wi, self.rotation.eval_1(si, active))
        return turn, *_alphas(self.roughness.eval_1(si, active), self.anisotropy.eval_1(si, active))

    def eval_pdf(self, ctx, si, wo, active=True):
        turn, ax, ay = self.place(si, active)
        wi, wo = turn.into(si.wi), turn.into(wo)
        good = active & (wi.z > 0) & (wo.z > 0)
        f, pdf, h = self.specular(ax, ay, wi, wo)
        # Exact reflectance of a conductor, unpolarised; by channel.
        c2 = dr.square(dr.dot(wi, h))
        s2, c = 1 - c2, dr.dot(wi, h)
        eta, k = self.eta.eval(si, active), self.k.eval(si, active)
        t0 = eta * eta - k * k - s2
        ab = dr.sqrt(t0 * t0 + 4 * eta * eta * k * k)
        a = dr.sqrt(dr.maximum(0, 0.5 * (ab + t0)))
        rs = (ab + c2 - 2 * a * c) / (ab + c2 + 2 * a * c)
        rp = rs * (c2 * ab + s2 * s2 - 2 * a * c * s2) / (c2 * ab + s2 * s2 + 2 * a * c * s2)
        return dr.select(good, 0.5 * (rs + rp) * f, 0), dr.select(good, pdf, 0)

    def sample(self, ctx, si, sample1, sample2, active=True):
        turn, ax, ay = self.place(si, active)
        wi = turn.into(si.wi)
        h, _ = _facets(ax, ay).sample(wi, sample2)
        return self.weigh(ctx, si, turn.out(mi.reflect(wi, h)), active & (si.wi.z != 0))

    def traverse(self, callback):
        callback.put("roughness", self.roughness, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_conductor"


class Principled(_Facets):
    def __init__(self, props):
        super().__init__(props)
        self.base = props.get_texture("base_color", 0.5)
        self.metallic = props.get_texture("metallic", 0.0)
        self.roughness = props.get_texture("roughness", 0.5)
        self.specular_input = props.get_texture("specular", 0.5)

    def inputs(self, si, active):
        base, metallic = self.base.eval(si, active), self.metallic.eval_1(si, active)
        f0 = 0.08 * self.specular_input.eval_1(si, active)
        f0 = f0 + (base - f0) * metallic
        ws = _luminance(f0 + (1 - f0) * _schlick(si.wi.z))
        wd = (1 - metallic) * _luminance(base)
        share = dr.select(wd == 0, 1, dr.clip(ws / (ws + wd), 0.1, 0.9))
        return base, metallic, self.roughness.eval_1(si, active), f0, share

    def eval_pdf(self, ctx, si, wo, active=True):
        good = active & self.front(si, wo)
        base, metallic, roughness, f0, share = self.inputs(si, active)
        alpha = _alpha(roughness)
        f, pdf, h = self.specular(alpha, alpha, si.wi, wo)
        c = dr.dot(si.wi, h)
        f90 = 0.5 + 2 * roughness * c * c
        diffuse = (1 + (f90 - 1) * _schlick(wo.z)) * (1 + (f90 - 1) * _schlick(si.wi.z)) * wo.z / dr.pi
        value = (f0 + (1 - f0) * _schlick(c)) * f + base * ((1 - metallic) * diffuse)
        return dr.select(good, value, 0), dr.select(good, share * pdf + (1 - share) * wo.z / dr.pi, 0)

    def sample(self, ctx, si, sample1, sample2, active=True):
        _, _, roughness, _, share = self.inputs(si, active)
        alpha = _alpha(roughness)
        h, _ = _facets(alpha, alpha).sample(si.wi, sample2)
        wo = dr.select(
            sample1 < share, mi.reflect(si.wi, h), mi.warp.square_to_cosine_hemisphere(sample2)
        )
        return self.weigh(ctx, si, wo, active & (si.wi.z > 0))

    def traverse(self, callback):
        callback.put("base_color", self.base, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_principled"


class PrincipledLobes(_Facets):
    """Directions are chosen otherwise than the protocol says, which changes no mean."""

    SCALARS = {"metallic": 0.0, "roughness": 0.5, "specular": 0.5, "spec_tint": 0.0, "anisotropic": 0.0, "rotation": 0.0}
    SCALARS |= {"sheen": 0.0, "sheen_tint": 0.5, "clearcoat": 0.0, "clearcoat_gloss": 1.0, "spec_trans": 0.0, "flatness": 0.0}

    def __init__(self, props):
        super().__init__(props)
        self.base = props.get_texture("base_color", 0.5)
        self.scalars = {name: props.get_texture(name, value) for name, value in self.SCALARS.items()}
        self.ior = props.get_texture("ior", 1.5)
        sides = mi.BSDFFlags.FrontSide | mi.BSDFFlags.BackSide
        self.m_components = [mi.BSDFFlags.GlossyReflection | sides, mi.BSDFFlags.GlossyTransmission | sides]
        self.m_flags = self.m_components[0] | self.m_components[1]

    def lobes(self, si, active):
        """All that does not hang on the other direction, and the shares of M, B, M of glass, T, C, S in sampling."""
        at = {name: dr.clip(t.eval_1(si, active), 0, 1) for name, t in self.scalars.items()}
        at["ax"], at["ay"] = _alphas(at["roughness"], at["anisotropic"])
        at["base"] = base = self.base.eval(si, active)
        m, y = at["metallic"], _luminance(self.base.eval(si, active))
        at["t"] = t = at["spec_trans"] * (1 - m)
        # both sides of what refracts have the same facets
        at["turn"] = turn = _Turn(si.wi, dr.select((si.wi.z < 0) & (t > 0), -at["rotation"], at["rotation"]))
        at["wi"] = wi = turn.into(si.wi)
        tint = dr.select(y > 0, base / dr.select(y > 0, y, 1), 1)
        d = dr.minimum(0.08 * at["specular"] * (1 + (tint - 1) * at["spec_tint"]), 1)
        at["f0"] = d + (base - d) * m
        at["velvet"] = at["sheen"] * (1 - m) * (1 + (tint - 1) * at["sheen_tint"])
        at["coat"] = dr.square(0.1 + (0.001 - 0.1) * at["clearcoat_gloss"])
        ior = dr.clip(self.ior.eval_1(si, active), 0.1, 10)
        at["eta"] = dr.select(turn.back, 1 / ior, ior)
        through = dr.clip(1 - mi.fresnel(wi.z, at["eta"])[0], 0.2, 0.8)
        shares = [
            (1 - t) * _luminance(at["f0"] + (1 - at["f0"]) * _schlick(wi.z)),
            (1 - t) * (1 - m) * y,
            t * (1 - through),
            t * through,
            0.25 * at["clearcoat"] * (0.1 + _schlick(wi.z)),
            at["sheen"] * (1 - m) * (0.05 + 0.2 * _schlick(wi.z)),
        ]
        total = shares[0] + shares[1] + shares[2] + shares[3] + shares[4] + shares[5]
        at["share"] = [dr.select(total > 0, share / dr.select(total > 0, total, 1), 0) for share in shares]
        return at

    def reflected(self, at, wo):
        wi, share, roughness = at["wi"], at["share"], at["roughness"]
        f, pdf, h = self.specular(at["ax"], at["ay"], wi, wo)
        c = dr.dot(wi, h)
        value = ((1 - at["t"]) * (at["f0"] + (1 - at["f0"]) * _schlick(c)) + at["t"] * mi.fresnel(c, at["eta"])[0]) * f
        density = (share[0] + share[2]) * pdf
        f90 = 0.5 + 2 * roughness * c * c
        diffuse, flat = ((1 + (f - 1) * _schlick(wo.z)) * (1 + (f - 1) * _schlick(wi.z)) for f in (f90, roughness * c * c))
        diffuse += (1.25 * (flat * (1 / (wo.z + wi.z) - 0.5) + 0.5) - diffuse) * at["flatness"]
        value += (1 - at["t"]) * (1 - at["metallic"]) * at["base"] * diffuse * wo.z / dr.pi
        a2 = at["coat"]
        d = (a2 - 1) / (dr.pi * dr.log(a2) * (1 + (a2 - 1) * dr.square(h.z)))
        g = 1 / ((1 + _masking_term(wi, 0.25, 0.25)) * (1 + _masking_term(wo, 0.25, 0.25)))
        value += 0.25 * at["clearcoat"] * (0.04 + 0.96 * _schlick(c)) * d * g / (4 * wi.z)
        density += share[4] * d * h.z / (4 * c)
        value += at["velvet"] * (_schlick(c) * wo.z)
        return value, density + (share[1] + share[5]) * wo.z / dr.pi

    def transmitted(self, at, wo):
        wi, eta = at["wi"], at["eta"]
        h = dr.normalize(wi + wo * eta)
        h = dr.select(h.z < 0, -h, h)
        c, d = dr.dot(wi, h), dr.dot(wo, h)
        good = (c > 0) & (d < 0)
        li, lo = _masking_term(wi, at["ax"], at["ay"]), _masking_term(wo, at["ax"], at["ay"])
        normals = _facets(at["ax"], at["ay"]).eval(h) * c / wi.z
        jacobian = -d / dr.square(c + eta * d)
        value = at["t"] * dr.sqrt(at["base"]) * ((1 - mi.fresnel(c, eta)[0]) * normals * jacobian / (1 + li + lo))
        density = at["share"][3] * normals / (1 + li) * dr.square(eta) * jacobian
        return dr.select(good, value, 0), dr.select(good, density, 0)

    def at_lobes(self, at, wo, active):
        up, down = active & (at["wi"].z > 0) & (wo.z > 0), active & (at["wi"].z > 0) & (wo.z < 0)
        (f, p), (g, q) = self.reflected(at, wo), self.transmitted(at, wo)
        return dr.select(up, f, dr.select(down, g, 0)), dr.select(up, p, dr.select(down, q, 0))

    def eval_pdf(self, ctx, si, wo, active=True):
        at = self.lobes(si, active)
        return self.at_lobes(at, at["turn"].into(wo), active)

    def sample(self, ctx, si, sample1, sample2, active=True):
        at = self.lobes(si, active)
        wi, share, eta = at["wi"], at["share"], at["eta"]
        h, _ = _facets(at["ax"], at["ay"]).sample(wi, sample2)
        c, i = dr.dot(wi, h), 1 / eta
        k = 1 - i * i * (1 - c * c)
        phi = 2 * dr.pi * sample2.y
        s2 = dr.clip((dr.exp(dr.log(at["coat"]) * (1 - sample2.x)) - at["coat"]) / (1 - at["coat"]), 0, 1)
        coat = mi.Vector3f(dr.sqrt(s2) * dr.cos(phi), dr.sqrt(s2) * dr.sin(phi), dr.sqrt(1 - s2))
        ways = [mi.reflect(wi, h), mi.warp.square_to_cosine_hemisphere(sample2), mi.reflect(wi, h)]
        ways += [h * (i * c - dr.sqrt(dr.maximum(k, 0))) - wi * i, mi.reflect(wi, coat), ways[1]]
        wo, upper = mi.Vector3f(ways[0]), mi.Float(share[0])
        through = mi.Bool(False)
        for number in range(1, 6):
            chosen = sample1 >= upper
            wo = dr.select(chosen, ways[number], wo)
            through = dr.select(chosen, mi.Bool(number == 3), through)
            upper += share[number]
        f, pdf = self.at_lobes(at, wo, active)
        good = active & (pdf > 0) & (through == (wo.z < 0)) & (~through | (k > 0))
        bs = mi.BSDFSample3f()
        bs.wo, bs.pdf, bs.eta = at["turn"].out(wo), dr.select(good, pdf, 0), dr.select(through, eta, 1)
        types = mi.BSDFFlags.GlossyTransmission, mi.BSDFFlags.GlossyReflection
        bs.sampled_type = dr.select(through, mi.UInt32(+types[0]), mi.UInt32(+types[1]))
        bs.sampled_component = dr.select(through, mi.UInt32(1), mi.UInt32(0))
        return bs, dr.select(good, f / dr.select(good, pdf, 1), 0)

    def traverse(self, callback):
        callback.put("base_color", self.base, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_principled_lobes"


class Correlated(mi.BSDF):
    """separable: a BSDF of GGX facets; masking_alpha: their alpha. Sampling and density are its own."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.separable, self.alpha = props["separable"], props.get_texture("masking_alpha", 0.1)
        self.m_components = [self.separable.flags(i) for i in range(self.separable.component_count())]
        self.m_flags = self.separable.flags()

    def ratio(self, si, wo, active):
        alpha = self.alpha.eval_1(si, active)
        li, lo = (_masking_term(w, alpha, alpha) for w in (si.wi, wo))
        return (1 + li) * (1 + lo) / (1 + li + lo)

    def eval(self, ctx, si, wo, active=True):
        return self.separable.eval(ctx, si, wo, active) * self.ratio(si, wo, active)

    def pdf(self, ctx, si, wo, active=True):
        return self.separable.pdf(ctx, si, wo, active)

    def eval_pdf(self, ctx, si, wo, active=True):
        return self.eval(ctx, si, wo, active), self.pdf(ctx, si, wo, active)

    def sample(self, ctx, si, sample1, sample2, active=True):
        bs, weight = self.separable.sample(ctx, si, sample1, sample2, active)
        return bs, dr.select(active & (bs.pdf > 0), weight * self.ratio(si, bs.wo, active), 0)

    def traverse(self, callback):
        callback.put("separable", self.separable, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_correlated"


class _Cosine(mi.BSDF):
    """Reflection to the front side, sampled by the cosine."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.reflectance = props.get_texture("reflectance", 0.5)
        self.m_components = [mi.BSDFFlags.DiffuseReflection | mi.BSDFFlags.FrontSide]
        self.m_flags = self.m_components[0]

    def eval(self, ctx, si, wo, active=True):
        good = active & (si.wi.z > 0) & (wo.z > 0)
        return dr.select(good, self.reflectance.eval(si, active) * (self.f(si, wo, active) * wo.z), 0)

    def pdf(self, ctx, si, wo, active=True):
        return dr.select(active & (si.wi.z > 0) & (wo.z > 0), wo.z / dr.pi, 0)

    def eval_pdf(self, ctx, si, wo, active=True):
        return self.eval(ctx, si, wo, active), self.pdf(ctx, si, wo, active)

    def sample(self, ctx, si, sample1, sample2, active=True):
        bs = mi.BSDFSample3f()
        bs.wo = mi.warp.square_to_cosine_hemisphere(sample2)
        f, bs.pdf = self.eval_pdf(ctx, si, bs.wo, active)
        bs.eta = 1.0
        bs.sampled_type = +mi.BSDFFlags.DiffuseReflection
        bs.sampled_component = 0
        good = active & (bs.pdf > 0)
        return bs, dr.select(good, f / dr.select(good, bs.pdf, 1), 0)

    def traverse(self, callback):
        callback.put("reflectance", self.reflectance, mi.ParamFlags.Differentiable)


class OrenNayar(_Cosine):
    def __init__(self, props):
        super().__init__(props)
        self.sigma = props.get_texture("sigma", 0.0)

    def f(self, si, wo, active):
        s2 = dr.square(self.sigma.eval_1(si, active))
        a, b = 1 - 0.5 * s2 / (s2 + 0.33), 0.45 * s2 / (s2 + 0.09)
        s = si.wi.x * wo.x + si.wi.y * wo.y
        return (a + b * dr.maximum(0, s) / dr.maximum(si.wi.z, wo.z)) / dr.pi

    def to_string(self):
        return "isophote_oren_nayar"


class Sheen(_Cosine):
    def __init__(self, props):
        super().__init__(props)
        self.roughness = props.get_texture("roughness", 0.5)

    def f(self, si, wo, active):
        i = 1 / dr.clip(self.roughness.eval_1(si, active), 0.25, 1)
        h = dr.normalize(si.wi + wo)
        g = dr.sqrt(dr.maximum(0, 1 - h.z * h.z))
        return (2 + i) * dr.power(g, i) / (2 * dr.pi) / (4 * (wo.z + si.wi.z - wo.z * si.wi.z))

    def to_string(self):
        return "isophote_sheen"


def _disk_uv(uv):
    """Of section 4, with v downwards: Mitsuba has radius and turns there."""
    y, x = dr.sincos(2 * dr.pi * uv.y)
    return mi.Point2f(0.5 + 0.5 * uv.x * x, 0.5 - 0.5 * uv.x * y)


def _beside(n, face):
    """Section 4: what the vertices say, on the face's side; the face's own where that stands at right angles to it."""
    c = dr.dot(n, face)
    return dr.select(dr.square(c) > 2**-20 * dr.squared_norm(n), dr.select(c < 0, -n, n), face)


class Surface(mi.BSDF):
    """surface: the BSDF about the normal that section 6 names, on any shape but instances of it if there is a
    normal_map, with its map_scale. disk: it is one. own_frame: the frame is section 6's, not that of u."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.surface = props["surface"]
        self.disk, self.own_frame = props.get("disk", False), props.get("own_frame", False)
        self.map, self.map_scale = props.get("normal_map", None), props.get("map_scale", 1.0)
        self.m_components = [self.surface.flags(i) for i in range(self.surface.component_count())]
        self.m_flags = self.surface.flags()

    def mapped(self, si, wi, ns, active):
        """Section 26, on wi's side of the face; ns: section 4's normal."""
        tangent = si.shape.eval_attribute_3("vertex_tangent", si, active)
        total = si.shape.eval_attribute_3("vertex_total", si, active)
        sign = si.shape.eval_attribute_1("vertex_sign", si, active)
        g = dr.sqrt(dr.square(si.n.x) + dr.square(si.n.y))
        p, q = (dr.select(g > 0, v / dr.select(g > 0, g, 1), unit) for v, unit in ((si.n.x, 1), (si.n.y, 0)))
        around = mi.Frame3f(si.n).s if self.disk else mi.Vector3f(-q, p, 0)
        corners = si.shape.has_attribute("vertex_tangent", active)
        t = dr.select(corners, mi.Vector3f(tangent), around)
        n = dr.select(corners, _beside(mi.Vector3f(total), si.n), si.n)
        c = self.map.eval_3(si, active)
        x, y, z = (2 * c.x - 1) * self.map_scale, (2 * c.y - 1) * self.map_scale, 2 * c.z - 1
        m = t * x + dr.cross(n, t) * dr.select(corners, sign, 1) * y + n * z
        m = dr.select(dr.squared_norm(m) > 0, dr.normalize(m), ns)
        back = dr.dot(wi, si.n) < 0
        m, face = dr.select(back, -m, m), dr.select(back, -si.n, si.n)
        h = dr.minimum(0.9 * dr.dot(face, wi), 0.01)
        r = m * (2 * dr.dot(m, wi)) - wi
        a = dr.dot(r, face)
        bent = wi + dr.normalize(r + face * dr.maximum(0, h - a))
        bent = dr.select(dr.squared_norm(bent) > 0, dr.normalize(bent), face)
        m = dr.select((dr.dot(m, wi) > 0) & (a >= h), m, bent)
        return dr.select(back, -m, m)

    def turned(self, si, active):
        """The normal on the face's own side; the face's own where wi is not in front of both or behind both."""
        out = mi.SurfaceInteraction3f(si)
        if self.disk:
            out.uv = _disk_uv(si.uv)
        wi, n = si.to_world(si.wi), _beside(si.sh_frame.n, si.n)
        if self.map is not None:
            n = self.mapped(out, wi, n, active)
        n = dr.select(dr.dot(wi, n) * dr.dot(wi, si.n) <= 0, si.n, n)
        u = mi.Frame3f(n).s if self.own_frame else dr.select(self.disk, mi.Frame3f(si.n).s, si.dp_du)
        s = dr.normalize(u - n * dr.dot(n, u))
        out.sh_frame = mi.Frame3f(s, dr.cross(n, s), n)
        out.wi = out.to_local(wi)
        return out

    def beside(self, si, turned, wo):
        """wo about that normal, and whether it is on the same side of the face."""
        world = si.to_world(wo)
        wo = turned.to_local(world)
        return wo, (dr.dot(world, si.n) > 0) == (wo.z > 0)

    def eval(self, ctx, si, wo, active=True):
        return self.eval_pdf(ctx, si, wo, active)[0]

    def pdf(self, ctx, si, wo, active=True):
        return self.eval_pdf(ctx, si, wo, active)[1]

    def eval_pdf(self, ctx, si, wo, active=True):
        turned = self.turned(si, active)
        wo, good = self.beside(si, turned, wo)
        f, pdf = self.surface.eval_pdf(ctx, turned, wo, active & good)
        return dr.select(good, f, 0), dr.select(good, pdf, 0)

    def sample(self, ctx, si, sample1, sample2, active=True):
        turned = self.turned(si, active)
        bs, weight = self.surface.sample(ctx, turned, sample1, sample2, active)
        local = si.to_local(turned.to_world(bs.wo))
        _, good = self.beside(si, turned, local)
        bs.wo, bs.pdf = local, dr.select(good, bs.pdf, 0)
        return bs, dr.select(good, weight, 0)

    def eval_null_transmission(self, si, active=True):
        return self.surface.eval_null_transmission(self.turned(si, active), active)

    def traverse(self, callback):
        callback.put("surface", self.surface, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_surface"


class SingleSided(mi.BSDF):
    """front: what the front does."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.front = props["front"]
        null = mi.BSDFFlags.Null | mi.BSDFFlags.BackSide
        self.m_components = [self.front.flags(i) for i in range(self.front.component_count())] + [null]
        self.m_flags = self.front.flags() | null

    def sample(self, ctx, si, sample1, sample2, active=True):
        behind = si.wi.z <= 0
        bs, weight = self.front.sample(ctx, si, sample1, sample2, active & ~behind)
        bs.wo = dr.select(behind, -si.wi, bs.wo)
        bs.pdf = dr.select(behind, 1, bs.pdf)
        bs.eta = dr.select(behind, 1, bs.eta)
        bs.sampled_type = dr.select(behind, mi.UInt32(+mi.BSDFFlags.Null), bs.sampled_type)
        return bs, dr.select(behind, 1, weight) & active

    def eval(self, ctx, si, wo, active=True):
        return self.front.eval(ctx, si, wo, active & (si.wi.z > 0))

    def pdf(self, ctx, si, wo, active=True):
        return self.front.pdf(ctx, si, wo, active & (si.wi.z > 0))

    def eval_pdf(self, ctx, si, wo, active=True):
        return self.front.eval_pdf(ctx, si, wo, active & (si.wi.z > 0))

    def eval_null_transmission(self, si, active=True):
        return mi.Color3f(dr.select(si.wi.z <= 0, 1, 0))

    def traverse(self, callback):
        callback.put("front", self.front, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_single_sided"


class Spot(mi.Emitter):
    def __init__(self, props):
        mi.Emitter.__init__(self, props)
        self.m_flags = +mi.EmitterFlags.DeltaPosition
        self.intensity = props.get_emissive_texture("intensity", 1.0)
        cos_outer, cos_inner = (dr.cos(dr.deg2rad(props[name])) for name in ("cutoff_angle", "beam_width"))
        self.cos_outer, self.k = cos_outer, 1 / max(cos_inner - cos_outer, 1e-6)
        to_world = props["to_world"]
        self.position = to_world @ mi.ScalarPoint3f(0)
        self.axis = dr.normalize(to_world @ mi.ScalarPoint3f(0, 0, 1) - self.position)

    def sample_direction(self, it, sample, active=True):
        ds = dr.zeros(mi.DirectionSample3f)
        v = mi.Point3f(self.position) - it.p
        d2 = dr.squared_norm(v)
        ds.p, ds.dist = mi.Point3f(self.position), dr.sqrt(d2)
        ds.d = v / ds.dist
        ds.pdf, ds.delta, ds.emitter, ds.time = 1.0, True, mi.EmitterPtr(self), it.time
        t = dr.clip((-dr.dot(ds.d, self.axis) - self.cos_outer) * self.k, 0, 1)
        value = self.intensity.eval(dr.zeros(mi.SurfaceInteraction3f), active) * (t * t * (3 - 2 * t) / d2)
        return ds, value & active

    def pdf_direction(self, it, ds, active=True):
        return mi.Float(0)

    def eval_direction(self, it, ds, active=True):
        return mi.Spectrum(0)

    def eval(self, si, active=True):
        return mi.Spectrum(0)

    def bbox(self):
        return mi.ScalarBoundingBox3f(self.position)

    def traverse(self, callback):
        callback.put("intensity", self.intensity, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_spot"


class Area(mi.Emitter):
    """radiance; two_sided; disk: it is one. Points are chosen by area: Mitsuba's spheres choose some that are seen
    from outside."""

    def __init__(self, props):
        mi.Emitter.__init__(self, props)
        self.radiance = props.get_emissive_texture("radiance", 1.0)
        self.two_sided, self.disk = props.get("two_sided", False), props.get("disk", False)
        self.m_flags = +mi.EmitterFlags.Surface
        if self.radiance.is_spatially_varying():
            self.m_flags |= +mi.EmitterFlags.SpatiallyVarying

    def shines(self, cosine, active):
        return active & ((cosine != 0) if self.two_sided else (cosine > 0))

    def looked_up(self, si, active):
        at = mi.SurfaceInteraction3f(si)
        at.uv = _disk_uv(si.uv) if self.disk else si.uv
        return dr.select(active, self.radiance.eval(at, active), 0)

    def eval(self, si, active=True):
        return self.looked_up(si, self.shines(si.wi.z, active))

    def sample_direction(self, it, sample, active=True):
        ds = mi.DirectionSample3f(self.get_shape().sample_position(it.time, sample, active))
        ds.d = ds.p - it.p
        ds.dist = dr.norm(ds.d)
        ds.d /= ds.dist
        ds.emitter, ds.delta = mi.EmitterPtr(self), False
        ds.pdf = self.pdf_direction(it, ds, active)
        good = active & (ds.pdf > 0)
        return ds, self.eval_direction(it, ds, good) / dr.select(good, ds.pdf, 1)

    def pdf_direction(self, it, ds, active=True):
        cosine = -dr.dot(ds.d, ds.n)
        active = self.shines(cosine, active)
        area = self.get_shape().surface_area()
        return dr.select(active, dr.square(ds.dist) / (area * dr.select(active, dr.abs(cosine), 1)), 0)

    def eval_direction(self, it, ds, active=True):
        si = dr.zeros(mi.SurfaceInteraction3f)
        si.uv = ds.uv
        return self.looked_up(si, self.shines(-dr.dot(ds.d, ds.n), active))

    def bbox(self):
        return self.get_shape().bbox()

    def traverse(self, callback):
        callback.put("radiance", self.radiance, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_area"


class Colored(mi.Texture):
    """texture: times the colours of the vertices, where the shape has them (section 7)."""

    def __init__(self, props):
        mi.Texture.__init__(self, props)
        self.texture = props["texture"]

    def eval(self, si, active=True):
        has = si.shape.has_attribute("vertex_color", active)
        color = mi.Color3f(si.shape.eval_attribute_3("vertex_color", si, active & has))
        return self.texture.eval(si, active) * dr.select(has, dr.clip(color, 0, 1), 1)

    def mean(self):
        return self.texture.mean()

    def is_spatially_varying(self):
        return True

    def to_string(self):
        return "isophote_colored"


class Alpha(mi.Texture):
    """roughness: a texture whose square alpha is."""

    def __init__(self, props):
        mi.Texture.__init__(self, props)
        self.roughness = props["roughness"]

    def eval(self, si, active=True):
        return mi.Color3f(self.eval_1(si, active))

    def eval_1(self, si, active=True):
        return _alpha(self.roughness.eval_1(si, active))

    def mean(self):
        return dr.square(self.roughness.mean())

    def is_spatially_varying(self):
        return True

    def to_string(self):
        return "isophote_alpha"


class Texture(mi.Texture):
    """bitmap: one that repeats; wrap_u, wrap_v: repeat, mirror or clamp; unbounded: not held in [0, 1]."""

    def __init__(self, props):
        mi.Texture.__init__(self, props)
        self.bitmap = props["bitmap"]
        self.wrap = props["wrap_u"], props["wrap_v"]
        self.most = dr.inf if props.get("unbounded", False) else 1
        self.cutoff = props.get("cutoff", 0.0)  # above 0: the value is 1 from there on, else 0
        self.to_uv = props["to_uv"] if props.has_property("to_uv") else mi.ScalarTransform4f()

    def place(self, si):
        """In the unit square a mirrored or clamped picture differs from a repeated one within half a texel of
        its edges only, where it is constant across them."""
        m, uv, size = self.to_uv.matrix, si.uv, self.bitmap.resolution()
        at = [m[i, 0] * uv.x + m[i, 1] * uv.y + m[i, 3] for i in range(2)]
        for i in range(2):
            if self.wrap[i] == "mirror":
                at[i] = at[i] - 2 * dr.floor(0.5 * at[i])
                at[i] = dr.minimum(at[i], 2 - at[i])
            if self.wrap[i] != "repeat":
                at[i] = dr.clip(at[i], 0.5 / size[i], 1 - 0.5 / size[i])
        placed = mi.SurfaceInteraction3f(si)
        placed.uv = mi.Point2f(at[0], at[1])
        return placed

    def eval(self, si, active=True):
        return dr.clip(self.bitmap.eval(self.place(si), active), 0, self.most)

    def eval_1(self, si, active=True):
        value = dr.clip(self.bitmap.eval_1(self.place(si), active), 0, 1)
        return dr.select(value >= self.cutoff, 1, 0) if self.cutoff > 0 else value

    def eval_3(self, si, active=True):
        return dr.clip(self.bitmap.eval_3(self.place(si), active), 0, self.most)

    def mean(self):
        return self.bitmap.mean()

    def is_spatially_varying(self):
        return True

    def to_string(self):
        return "isophote_texture"


mi.register_bsdf("isophote_conductor", Conductor)
mi.register_bsdf("isophote_principled", Principled)
mi.register_bsdf("isophote_principled_lobes", PrincipledLobes)
mi.register_bsdf("isophote_correlated", Correlated)
mi.register_bsdf("isophote_oren_nayar", OrenNayar)
mi.register_bsdf("isophote_sheen", Sheen)
mi.register_bsdf("isophote_surface", Surface)
mi.register_bsdf("isophote_single_sided", SingleSided)
mi.register_emitter("isophote_area", Area)
mi.register_emitter("isophote_spot", Spot)
mi.register_texture("isophote_alpha", Alpha)
mi.register_texture("isophote_colored", Colored)
mi.register_texture("isophote_texture", Texture)
