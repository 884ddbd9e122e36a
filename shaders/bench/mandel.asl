// Escape times of the Mandelbrot set, at most 64 turns.
shader mandel(int turns = 64, output color Cout = 0)
{
    float cx = u * 3 - 2.2, cy = v * 2.6 - 1.3, x = 0, y = 0;
    int n = 0;
    while (n < turns && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    float t = (float)n / turns;
    Cout = color(t, t * t, sqrt(t));
}
