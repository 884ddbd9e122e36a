// Leather: cells with creases between them, worn where they stand out.
shader leather(float scale = 22, float crease = 0.25, color hide = color(0.28, 0.12, 0.06), color worn = color(0.5, 0.28, 0.15),
               output color Cout = 0, output float bump = 0, output float roughness = 0)
{
    point p = point(u, v, 0) * scale + 0.5 * (vector)snoise(P * 6);
    point here = point(floor(p.x), floor(p.y), 0);
    float f1 = 9, f2 = 9;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            point cell = here + vector(i, j, 0);
            vector r = (vector)cellnoise(cell);
            float d = hypot(cell.x + r.x - p.x, cell.y + r.y - p.y);
            if (d < f1) {
                f2 = f1;
                f1 = d;
            } else {
                f2 = min(f2, d);
            }
        }
    }
    float raised = smoothstep(0, crease, f2 - f1);
    bump = raised * (0.9 + 0.1 * (float)noise(P * 150));
    Cout = mix(hide * 0.5, mix(hide, worn, smoothstep(0.4, 0.9, (float)noise(P * 5)) * raised), 0.35 + 0.65 * raised);
    roughness = mix(0.75, 0.45, raised);
}
