// Turbulence through a spline, and branches that differ from point to point.
float turbulence(point at, int octaves)
{
    float sum = 0, weight = 1;
    point q = at;
    for (int k = 0; k < octaves; k++) {
        sum += weight * abs(snoise(q));
        weight *= 0.5;
        q *= 2.13;
    }
    return sum;
}
shader marble(float size = 6, float veins = 4, int tiles = 8, color pale = color(0.9, 0.88, 0.85),
              color dark = color(0.12, 0.13, 0.24), output color Cout = 0)
{
    point q = P * size;
    float m = 0.5 + 0.5 * sin(q[0] * veins + 5 * turbulence(q, 4));
    color ramp[6] = {dark, dark, mix(dark, pale, 0.3), mix(dark, pale, 0.7), pale, pale};
    color stone = spline("catmull-rom", m, ramp);
    float x = u * tiles, y = v * tiles;
    int i = (int)floor(x), j = (int)floor(y);
    if (x - i < 0.04 || y - j < 0.04)
        Cout = color(0.2) + 0.1 * noise("perlin", q * 9);
    else if ((i + j) % 2 == 0)
        Cout = m > 0.75 ? pow(stone, 1.4) : m < 0.2 ? stone + 0.25 * exp(-20 * m) : stone;
    else
        Cout = mix(stone, color(1) - stone, smoothstep(0.2, 0.8, m));
}
