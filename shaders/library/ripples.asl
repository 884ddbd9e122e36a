// Water: the waves of several drops overlap; bends the normal and mirrors a sky of two colours.
shader ripples(int drops = 6, float wavelength = 0.06, float strength = 0.04, float seconds = 0.5, color deep = color(0.02, 0.08, 0.12),
               color sky = color(0.6, 0.75, 0.9), output color Cout = 0, output float height = 0, output normal bent = 0)
{
    for (int i = 0; i < drops; i++) {
        float x = cellnoise(i, 1), y = cellnoise(i, 2), d = hypot(u - x, v - y);
        height += cos(M_2PI * (d / wavelength - seconds)) * exp(-3 * d) * (0.5 + 0.5 * (float)cellnoise(i, 3));
    }
    float k = strength * wavelength;
    float hx = Dx(height) * k / max(Dx(u), 1e-6), hy = Dy(height) * k / max(Dy(v), 1e-6);
    bent = normalize(normal(-hx, -hy, 1));
    float facing = clamp(bent.z, 0, 1);
    Cout = mix(sky, deep, pow(facing, 8)) + 0.6 * pow(clamp(dot(bent, normalize(vector(0.3, 0.4, 1))), 0, 1), 120);
}
