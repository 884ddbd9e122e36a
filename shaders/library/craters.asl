// A moon: craters of several sizes, each with a floor, a rim and rays.
float crater(float s, float t, int seed)
{
    float i = floor(s), j = floor(t), h = 0;
    for (int b = -1; b <= 1; b++) {
        for (int a = -1; a <= 1; a++) {
            vector r = (vector)cellnoise(point(i + a, j + b, seed));
            float d = hypot(s - (i + a + r.x), t - (j + b + r.y)), size = 0.15 + 0.35 * r.z * r.z;
            float x = d / size;
            if (x < 1.6)
                h += size * (x < 1 ? -0.8 * (1 - x * x) + 0.35 * smoothstep(0.8, 1, x) : 0.35 * (1 - smoothstep(1, 1.6, x)));
        }
    }
    return h;
}
shader craters(float scale = 3, int levels = 4, color dust = color(0.5, 0.48, 0.45), output color Cout = 0, output float height = 0)
{
    float a = 1;
    for (int i = 0; i < levels; i++) {
        height += a * crater(u * scale / a + 3.7 * i, v * scale / a, i);
        a *= 0.5;
    }
    height += 0.05 * (float)snoise(P * 40);
    float slope = Dx(height) / max(Dx(u), 1e-6) * 0.25;
    Cout = dust * clamp(0.55 - 0.35 * slope + 0.25 * height, 0.05, 1.4);
}
