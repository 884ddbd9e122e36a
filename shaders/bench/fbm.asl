// Six octaves of signed Perlin noise in colour.
shader fbm(float frequency = 7, float step = 2.02, float fall = 0.53, int octaves = 6, output color Cout = 0)
{
    point q = P * frequency;
    color total = 0;
    float weight = 1;
    for (int k = 0; k < octaves; k++) {
        color n = noise("perlin", q);
        total += weight * n;
        weight *= fall;
        q *= step;
    }
    Cout = 0.5 * total + 0.5;
}
