"""What docs/protocol.md has and Mitsuba 3 has not, as plugins of Mitsuba's.

    import mitsuba as mi
    mi.set_variant("llvm_ad_rgb")      # or scalar_rgb, which is slow with plugins in Python
    import isophote_bsdfs              # after the variant is chosen
    scene = mi.load_file("scene.xml")

`isophote export --mitsuba SCENE --plugins` puts this file beside the scene. The distribution of normals and its
sampling are Mitsuba's own; masking, Fresnel terms and the diffuse term are those of the protocol's section 7:

  isophote_conductor   GGX, complex index, Smith's height-correlated masking; roughness, whose square is alpha
  isophote_principled  that with Schlick's Fresnel term from F0 = lerp(0.08 specular, base, metallic), and Burley's diffuse term
  isophote_correlated  a BSDF of Mitsuba's whose masking is separable, times the ratio of the two
  isophote_oren_nayar  Oren and Nayar's qualitative model (section 21, O)
  isophote_sheen       Conty and Kulla's sheen (section 21, H)
  isophote_single_sided  a BSDF for the front; from behind the surface is not there (section 26; needs volpath)
  isophote_spot        a spot light that falls off by the smooth step of the cosine (section 24)
  isophote_texture     a bitmap whose axes may wrap differently, clamped to [0, 1] after interpolation
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


def _facets(alpha):
    return mi.MicrofacetDistribution(mi.MicrofacetType.GGX, alpha, True)


def _masking_term(w, alpha):
    """Lambda of Smith's masking for GGX."""
    return 0.5 * (dr.sqrt(1 + dr.square(alpha) * (dr.square(w.x) + dr.square(w.y)) / dr.square(w.z)) - 1)


class _Facets(mi.BSDF):
    """Reflection to the front side, with microfacets; what follows says the rest."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.m_components = [mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide]
        self.m_flags = self.m_components[0]

    def specular(self, alpha, wi, wo):
        """D G2 / (4 cos_i) and the density of sampling by visible normals, where both are in front; h."""
        h = dr.normalize(wi + wo)
        li, lo = _masking_term(wi, alpha), _masking_term(wo, alpha)
        d = _facets(alpha).eval(h) / (4 * wi.z)
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

    def eval_pdf(self, ctx, si, wo, active=True):
        good = active & self.front(si, wo)
        alpha = _alpha(self.roughness.eval_1(si, active))
        f, pdf, h = self.specular(alpha, si.wi, wo)
        # Exact reflectance of a conductor, unpolarised; by channel.
        c2 = dr.square(dr.dot(si.wi, h))
        s2, c = 1 - c2, dr.dot(si.wi, h)
        eta, k = self.eta.eval(si, active), self.k.eval(si, active)
        t0 = eta * eta - k * k - s2
        ab = dr.sqrt(t0 * t0 + 4 * eta * eta * k * k)
        a = dr.sqrt(dr.maximum(0, 0.5 * (ab + t0)))
        rs = (ab + c2 - 2 * a * c) / (ab + c2 + 2 * a * c)
        rp = rs * (c2 * ab + s2 * s2 - 2 * a * c * s2) / (c2 * ab + s2 * s2 + 2 * a * c * s2)
        return dr.select(good, 0.5 * (rs + rp) * f, 0), dr.select(good, pdf, 0)

    def sample(self, ctx, si, sample1, sample2, active=True):
        alpha = _alpha(self.roughness.eval_1(si, active))
        h, _ = _facets(alpha).sample(si.wi, sample2)
        return self.weigh(ctx, si, mi.reflect(si.wi, h), active & (si.wi.z > 0))

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
        f, pdf, h = self.specular(_alpha(roughness), si.wi, wo)
        c = dr.dot(si.wi, h)
        f90 = 0.5 + 2 * roughness * c * c
        diffuse = (1 + (f90 - 1) * _schlick(wo.z)) * (1 + (f90 - 1) * _schlick(si.wi.z)) * wo.z / dr.pi
        value = (f0 + (1 - f0) * _schlick(c)) * f + base * ((1 - metallic) * diffuse)
        return dr.select(good, value, 0), dr.select(good, share * pdf + (1 - share) * wo.z / dr.pi, 0)

    def sample(self, ctx, si, sample1, sample2, active=True):
        _, _, roughness, _, share = self.inputs(si, active)
        h, _ = _facets(_alpha(roughness)).sample(si.wi, sample2)
        wo = dr.select(
            sample1 < share, mi.reflect(si.wi, h), mi.warp.square_to_cosine_hemisphere(sample2)
        )
        return self.weigh(ctx, si, wo, active & (si.wi.z > 0))

    def traverse(self, callback):
        callback.put("base_color", self.base, mi.ParamFlags.Differentiable)

    def to_string(self):
        return "isophote_principled"


class Correlated(mi.BSDF):
    """separable: a BSDF of GGX facets; masking_alpha: their alpha. Sampling and density are its own."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.separable, self.alpha = props["separable"], props["masking_alpha"]
        self.m_components = [self.separable.flags(i) for i in range(self.separable.component_count())]
        self.m_flags = self.separable.flags()

    def ratio(self, wi, wo):
        li, lo = _masking_term(wi, self.alpha), _masking_term(wo, self.alpha)
        return (1 + li) * (1 + lo) / (1 + li + lo)

    def eval(self, ctx, si, wo, active=True):
        return self.separable.eval(ctx, si, wo, active) * self.ratio(si.wi, wo)

    def pdf(self, ctx, si, wo, active=True):
        return self.separable.pdf(ctx, si, wo, active)

    def eval_pdf(self, ctx, si, wo, active=True):
        return self.eval(ctx, si, wo, active), self.pdf(ctx, si, wo, active)

    def sample(self, ctx, si, sample1, sample2, active=True):
        bs, weight = self.separable.sample(ctx, si, sample1, sample2, active)
        return bs, dr.select(active & (bs.pdf > 0), weight * self.ratio(si.wi, bs.wo), 0)

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


class Texture(mi.Texture):
    """bitmap: one that repeats; wrap_u, wrap_v: repeat, mirror or clamp."""

    def __init__(self, props):
        mi.Texture.__init__(self, props)
        self.bitmap = props["bitmap"]
        self.wrap = props["wrap_u"], props["wrap_v"]
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
        return dr.clip(self.bitmap.eval(self.place(si), active), 0, 1)

    def eval_1(self, si, active=True):
        value = dr.clip(self.bitmap.eval_1(self.place(si), active), 0, 1)
        return dr.select(value >= self.cutoff, 1, 0) if self.cutoff > 0 else value

    def eval_3(self, si, active=True):
        return dr.clip(self.bitmap.eval_3(self.place(si), active), 0, 1)

    def mean(self):
        return self.bitmap.mean()

    def is_spatially_varying(self):
        return True

    def to_string(self):
        return "isophote_texture"


mi.register_bsdf("isophote_conductor", Conductor)
mi.register_bsdf("isophote_principled", Principled)
mi.register_bsdf("isophote_correlated", Correlated)
mi.register_bsdf("isophote_oren_nayar", OrenNayar)
mi.register_bsdf("isophote_sheen", Sheen)
mi.register_bsdf("isophote_single_sided", SingleSided)
mi.register_emitter("isophote_spot", Spot)
mi.register_texture("isophote_texture", Texture)
