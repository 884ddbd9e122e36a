// Glowing rings: space is folded again and again, every fold adds a ring whose width falls off as 1/d. The pattern that is
// popular for demonstrations of shaders; written anew for ASL.
color palette(float t)
{
    return 0.5 + 0.5 * cos(6.28318 * (t + color(0.263, 0.416, 0.557)));
}
shader shadertoy_rings(float seconds = 1, int folds = 4, float zoom = 1.5, output color Cout = 0)
{
    float x0 = 2 * u - 1, y0 = 2 * v - 1, x = x0, y = y0;
    float r0 = hypot(x0, y0);
    for (int i = 0; i < folds; i++) {
        x = mod(x * zoom, 1) - 0.5;
        y = mod(y * zoom, 1) - 0.5;
        float d = hypot(x, y) * exp(-r0);
        d = abs(sin(d * 8 + seconds) / 8);
        Cout += palette(r0 + i * 0.4 + seconds * 0.4) * pow(0.01 / d, 1.2);
    }
}
