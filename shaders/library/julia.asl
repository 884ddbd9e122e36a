// A Julia set, drawn by its orbit trap: how near the path came to the axes.
shader julia(float re = -0.745, float im = 0.113, float size = 2.8, int limit = 120, output color Cout = 0)
{
    float x = (u - 0.5) * size, y = (v - 0.5) * size, trap = 1e3, r2 = 0;
    int n = 0;
    for (; n < limit && r2 < 64; n++) {
        float t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
        r2 = x * x + y * y;
        trap = min(trap, min(abs(x), abs(y)));
    }
    Cout = color("hsv", mod(0.55 + 0.012 * n, 1), 0.7, n == limit ? 0.1 : 1 - exp(-0.06 * n));
    Cout += 0.5 * exp(-60 * trap);
}
