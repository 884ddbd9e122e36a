// A gas giant: bands of latitude, sheared by turbulence, and one great oval.
shader gasgiant(float bands = 9, float turbulence = 0.05, output color Cout = 0)
{
    float x = u - 0.68, y = (v - 0.62) * 1.8, oval = exp(-60 * (x * x + y * y));
    point p = point(u * 3 + 2 * oval * (v - 0.62), v * 10, 0.5);
    float warp = 0, a = 1;
    for (int i = 0; i < 5; i++) {
        warp += a * (float)snoise(p);
        p = point(p.x * 2.1, p.y * 1.6, p.z + 3);
        a *= 0.5;
    }
    float latitude = (v + turbulence * warp + 0.08 * oval) * bands;
    color knots[8] = { color(0.55, 0.42, 0.3), color(0.82, 0.72, 0.58), color(0.9, 0.85, 0.76), color(0.62, 0.45, 0.32), color(0.86, 0.76, 0.62),
                       color(0.5, 0.36, 0.28), color(0.9, 0.84, 0.74), color(0.7, 0.58, 0.46) };
    float f = latitude / 8;
    Cout = spline("catmull-rom", abs(2 * (f - floor(f)) - 1), knots);
    Cout = mix(Cout, color(0.72, 0.3, 0.18), oval * 0.8) * (0.92 + 0.08 * warp);
}
