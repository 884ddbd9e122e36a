// Marble: a sine along one axis, driven far out of phase by turbulence, through a spline of colours.
shader marble(float frequency = 3, float veins = 5, float distortion = 4, int octaves = 6,
              color base = color(0.92, 0.91, 0.88), color vein = color(0.28, 0.3, 0.33), output color Cout = 0,
              output float roughness = 0.15)
{
    point p = P * frequency;
    float sum = 0, a = 1;
    point q = p;
    for (int i = 0; i < octaves; i++) {
        sum += a * abs(snoise(q));
        q = q * 2.03 + vector(3.1, 1.7, 5.9);
        a *= 0.5;
    }
    float m = 0.5 + 0.5 * sin((p.x + 0.3 * p.y) * veins + distortion * sum);
    color knots[7] = { vein, vein, mix(vein, base, 0.6), base, base, mix(vein, base, 0.8), base };
    Cout = spline("catmull-rom", pow(m, 0.6), knots);
    Cout *= 0.95 + 0.05 * (float)noise(p * 20);
}
