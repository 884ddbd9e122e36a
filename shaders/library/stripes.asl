// Stripes of any direction, with edges filtered by the size of a sample.
shader stripes(float count = 10, float angle = 30, float duty = 0.5, color a = color(0.85, 0.82, 0.75), color b = color(0.5, 0.05, 0.08),
               output color Cout = 0)
{
    float r = radians(angle), x = (u * cos(r) + v * sin(r)) * count;
    float f = x - floor(x), w = max(filterwidth(x), 1e-5);
    float on = aastep(0, f, 0, w) * (1 - aastep(duty, f, 0, w)) + aastep(1, f, 0, w);
    Cout = mix(a, b, on);
}
