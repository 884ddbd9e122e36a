// Checker board, filtered by the box that one sample covers: no aliasing at any distance.
float square_wave(float x, float w) // the mean of "x's whole part is even" over [x - w/2, x + w/2]
{
    float a = 0.5 * (x - 0.5 * w), b = 0.5 * (x + 0.5 * w);
    float ia = floor(a) + min(2 * (a - floor(a)), 1), ib = floor(b) + min(2 * (b - floor(b)), 1);
    return (ib - ia) / w;
}
shader checker(float scale = 8 [[ string help = "squares across u and v" ]], color even = color(0.8), color odd = color(0.1),
               output color Cout = 0)
{
    float s = u * scale, t = v * scale;
    float a = square_wave(s, max(filterwidth(s), 1e-4)), b = square_wave(t, max(filterwidth(t), 1e-4));
    Cout = mix(odd, even, a * b + (1 - a) * (1 - b));
}
