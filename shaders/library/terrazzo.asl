// Terrazzo: chips of stone of many colours and sizes in cement, polished flat.
shader terrazzo(float scale = 10, int layers = 3, color cement = color(0.8, 0.78, 0.74), output color Cout = 0, output float roughness = 0.2)
{
    Cout = cement * (0.95 + 0.05 * (float)noise(P * 80));
    for (int k = layers - 1; k >= 0; k--) {
        float f = scale * (1 + 0.8 * k), s = u * f + 5.3 * k, t = v * f + 2.1 * k, i = floor(s), j = floor(t);
        for (int b = -1; b <= 1; b++) {
            for (int a = -1; a <= 1; a++) {
                vector r = (vector)cellnoise(point(i + a, j + b, k));
                vector q = (vector)cellnoise(point(i + a, j + b, k + 50));
                float x = s - (i + a + r.x), y = t - (j + b + r.y), angle = atan2(y, x);
                float edge = (0.12 + 0.25 * r.z) * (0.75 + 0.25 * cos(3 * angle + 6 * q.x) + 0.12 * cos(5 * angle + 6 * q.y));
                float inside = 1 - smoothstep(edge - filterwidth(t), edge + filterwidth(t), hypot(x, y));
                color chip = color("hsv", mod(0.03 + 0.12 * q.z + 0.5 * floor(q.x * 2), 1), 0.15 + 0.35 * q.y, 0.35 + 0.55 * q.x);
                Cout = mix(Cout, chip, inside);
            }
        }
    }
}
