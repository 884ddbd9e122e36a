// A node: turns the hue of a colour, scales its saturation and value.
shader hue_shift(color in = color(0.8, 0.3, 0.2), float shift = 0.1, float saturation = 1, float value = 1, output color Cout = 0)
{
    color c = transformc("rgb", "hsv", in);
    Cout = color("hsv", mod(c[0] + shift + 0.2 * u, 1), clamp(c[1] * saturation, 0, 1), c[2] * value);
}
