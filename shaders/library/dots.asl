// Dots in a staggered grid; the size of each may vary.
shader dots(float scale = 9, float size = 0.3, float vary = 0.4, color dot_color = color(0.9, 0.25, 0.2), color back = color(0.95, 0.9, 0.8),
            output color Cout = 0)
{
    float s = u * scale, t = v * scale;
    float row = floor(t);
    s += 0.5 * mod(row, 2);
    float x = s - floor(s) - 0.5, y = t - row - 0.5;
    float r = size * (1 - vary * (float)cellnoise(floor(s), row)), d = hypot(x, y), w = filterwidth(t);
    Cout = mix(dot_color, back, smoothstep(r - w, r + w, d));
}
