// The Mandelbrot set with smooth colouring by the rate of escape.
shader mandelbrot(point center = point(-0.6, 0, 0), float size = 2.6, int limit = 200, output color Cout = 0, output float escape = 0)
{
    float cx = center.x + (u - 0.5) * size, cy = center.y + (v - 0.5) * size, x = 0, y = 0, r2 = 0;
    int n = 0;
    while (n < limit && r2 < 256) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        r2 = x * x + y * y;
        n++;
    }
    if (n < limit) {
        escape = n + 1 - log2(0.5 * log2(r2));
        Cout = 0.5 + 0.5 * cos(0.15 * escape + color(3, 3.6, 4.3));
    }
}
