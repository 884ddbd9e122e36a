// Snow: soft drifts, blue shadow, and glints that only a few crystals send back.
shader snow(float frequency = 2.5, float glints = 220, output color Cout = 0, output float height = 0, output float roughness = 0.7)
{
    height = 0.6 * (float)noise(P * frequency) + 0.3 * (float)noise(P * frequency * 2.2) + 0.05 * (float)noise(P * frequency * 12);
    float slope = Dx(height) / max(Dx(u), 1e-6) + 0.5 * Dy(height) / max(Dy(v), 1e-6);
    float lit = clamp(0.75 - 0.2 * slope, 0, 1);
    vector r = (vector)cellnoise(P * glints);
    float glint = pow(clamp(r.x * r.y, 0, 1), 24);
    Cout = mix(color(0.45, 0.58, 0.8), color(0.98, 0.98, 1), lit) + glint;
}
