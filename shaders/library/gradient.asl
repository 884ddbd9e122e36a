// A ramp of four colours along any direction of the parameter plane.
shader gradient(float angle = 0, color c0 = color(0.05, 0.1, 0.3), color c1 = color(0.3, 0.2, 0.5), color c2 = color(0.9, 0.4, 0.3),
                color c3 = color(1, 0.9, 0.6), output color Cout = 0, output float t = 0)
{
    float a = radians(angle);
    t = clamp((u - 0.5) * cos(a) + (v - 0.5) * sin(a) + 0.5, 0, 1);
    color k[6] = { c0, c0, c1, c2, c3, c3 };
    Cout = spline("catmull-rom", t, k);
}
