// Lines of constant u and v whose width is given in samples, as a wireframe shows it.
shader wireframe(float lines = 10, float width = 1.5, color ink = color(0.1, 0.5, 0.7), color paper = color(0.97), output color Cout = 0,
                 output float alpha = 0)
{
    float s = u * lines, t = v * lines;
    float a = abs(s - round(s)) / max(filterwidth(s), 1e-6), b = abs(t - round(t)) / max(filterwidth(t), 1e-6);
    alpha = 1 - smoothstep(0.5 * width - 0.5, 0.5 * width + 0.5, min(a, b));
    Cout = mix(paper, ink, alpha);
}
