// Truchet tiles: quarter circles, turned at random, join to winding bands.
shader truchet(float scale = 10, float width = 0.12, color band = color(0.1, 0.35, 0.4), color back = color(0.93, 0.9, 0.82),
               output color Cout = 0)
{
    float s = u * scale, t = v * scale, i = floor(s), j = floor(t), x = s - i, y = t - j;
    if ((float)cellnoise(i, j) < 0.5)
        x = 1 - x;
    float d = min(abs(hypot(x, y) - 0.5), abs(hypot(1 - x, 1 - y) - 0.5)), w = filterwidth(t);
    color shaded = band * (0.7 + 0.3 * cos(d / width * M_PI_2));
    Cout = mix(shaded, back, smoothstep(width - w, width + w, d));
}
