// Halftone: a smooth pattern printed as dots of growing size on a turned grid.
shader halftone(float lines = 40, float angle = 45, color ink = color(0.05, 0.05, 0.1), color paper = color(0.98, 0.96, 0.9), output color Cout = 0)
{
    float tone = clamp(0.5 + 0.6 * (float)snoise(P * 3) + 0.25 * (v - 0.5), 0, 1);
    float a = radians(angle), s = (u * cos(a) + v * sin(a)) * lines, t = (v * cos(a) - u * sin(a)) * lines;
    float screen = 0.25 * (2 + cos(M_2PI * s) + cos(M_2PI * t)), w = 2.5 * filterwidth(s) + 0.02;
    Cout = mix(ink, paper, smoothstep(1 - tone - w, 1 - tone + w, screen));
}
