// Burley's principled BRDF (Physically-Based Shading at Disney, 2012) for one light and one view direction. Parameters of
// 0 turn lobes off.
float falloff(float c)
{
    float x = 1 - clamp(c, 0, 1), y = x * x;
    return y * y * x;
}
float masking(float c, float x, float y) { return 1 / (c + sqrt(x * x + y * y + c * c)); }
shader disney(color baseColor = color(0.7, 0.5, 0.2), float metallic = 0, float subsurf = 0, float specular = 0.5,
              float roughness = 0.5, float specularTint = 0, float anisotropic = 0, float sheen = 0, float sheenTint = 0.5,
              float clearcoat = 0, float clearcoatGloss = 1, vector light = vector(0.4, 0.5, 0.8),
              vector view = vector(-0.3, 0.1, 0.9), output color Cout = 0)
{
    vector n = normalize(N + 0.3 * vector(u - 0.5, v - 0.5, 0)), x = normalize(cross(vector(0, 1, 0), n)), y = cross(n, x);
    vector l = normalize(light), e = normalize(view), h = normalize(l + e);
    float nl = dot(n, l), ne = dot(n, e), nh = dot(n, h), lh = dot(l, h);
    if (nl > 0 && ne > 0) {
        float grey = luminance(baseColor), fl = falloff(nl), fe = falloff(ne), fh = falloff(lh);
        color tint = grey > 0 ? baseColor / grey : color(1);
        float retro = 2 * lh * lh * roughness, diffuse = mix(1, 0.5 + retro, fl) * mix(1, 0.5 + retro, fe);
        if (subsurf > 0) {
            float flat = mix(1, 0.5 * retro, fl) * mix(1, 0.5 * retro, fe);
            diffuse = mix(diffuse, 1.25 * (flat * (1 / (nl + ne) - 0.5) + 0.5), subsurf);
        }
        float aspect = sqrt(1 - 0.9 * anisotropic);
        float ax = max(0.001, roughness * roughness / aspect), ay = max(0.001, roughness * roughness * aspect);
        float hx = dot(h, x) / ax, hy = dot(h, y) / ay, s = hx * hx + hy * hy + nh * nh;
        float facets = 1 / (M_PI * ax * ay * s * s);
        facets *= masking(nl, dot(l, x) * ax, dot(l, y) * ay) * masking(ne, dot(e, x) * ax, dot(e, y) * ay);
        color at0 = mix(0.08 * specular * mix(color(1), tint, specularTint), baseColor, metallic);
        Cout = (baseColor * (diffuse / M_PI) + fh * sheen * mix(color(1), tint, sheenTint)) * (1 - metallic)
             + mix(at0, color(1), fh) * facets;
        if (clearcoat > 0) {
            float a = mix(0.1, 0.001, clearcoatGloss), q = a * a - 1;
            float coat = q / (M_PI * log(a * a) * (1 + q * nh * nh));
            Cout += 0.25 * clearcoat * mix(0.04, 1, fh) * coat * masking(nl, 0.25, 0) * masking(ne, 0.25, 0);
        }
        Cout *= nl;
    }
}
