// Scratches: in every cell of several rotated grids, one short line of its own direction and depth.
float one_layer(float s, float t, int seed, float width, float len)
{
    float cs = floor(s), ct = floor(t), best = 0;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            point cell = point(cs + i, ct + j, seed);
            vector r = (vector)cellnoise(cell);
            float q = cellnoise(cell, 9);
            float angle = (r.z - 0.5) * 0.9, x = s - (cs + i + r.x), y = t - (ct + j + r.y);
            float along = x * cos(angle) + y * sin(angle), across = y * cos(angle) - x * sin(angle);
            float w = width + 0.5 * filterwidth(t);
            float line = 1 - smoothstep(0, w, abs(across + 0.05 * sin(along * 3 + q * 6)));
            line *= 1 - smoothstep(len * 0.6, len, abs(along));
            best = max(best, line * (0.3 + 0.7 * q) * width / w);
        }
    }
    return best;
}
shader scratches(float scale = 8, int layers = 4, float width = 0.012, float depth = 1, color base = color(0.5, 0.52, 0.55),
                 output color Cout = 0, output float roughness = 0.25, output float bump = 0)
{
    float total = 0;
    for (int i = 0; i < layers; i++) {
        float a = i * 1.7 + 0.3, c = cos(a), s = sin(a), k = scale * (1 + 0.4 * i);
        total = max(total, one_layer((u * c - v * s) * k, (u * s + v * c) * k, i, width, 0.9));
    }
    bump = -depth * total;
    Cout = base * (1 - 0.4 * total);
    roughness = 0.22 + 0.35 * total;
}
