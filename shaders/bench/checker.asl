// A checker filtered by derivatives.
float edges(float x, float w)
{
    float lo = x - 0.5 * w, hi = x + 0.5 * w;
    float a = 0.5 * floor(lo) + max(0, lo - floor(lo) - 0.5), b = 0.5 * floor(hi) + max(0, hi - floor(hi) - 0.5);
    return (b - a) / w;
}
shader checker(float rows = 16, float bend = 0.3, output color Cout = 0)
{
    float x = (u + bend * sin(6 * v)) * rows, y = (v + bend * cos(5 * u)) * rows;
    float p = edges(x, max(filterwidth(x), 1e-5)), q = edges(y, max(filterwidth(y), 1e-5));
    Cout = mix(color(0.1, 0.1, 0.15), color(0.9, 0.85, 0.8), p + q - 2 * p * q);
}
