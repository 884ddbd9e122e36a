// Arithmetic without branches, a few dozen operations.
shader arith(float gain = 1.5, color tint = color(0.9, 0.7, 0.4), output color Cout = 0)
{
    float a = u * gain + v, b = a * a - 0.5 * v, c = (a + b) * (1 - u);
    color w = tint * c + color(a, b, c);
    Cout = clamp(w * w * (3 - 2 * w), 0, 1);
}
