// Voronoi cells (Worley 1996): distances to the two nearest feature points, the borders, a colour for each cell.
shader voronoi(float scale = 8, float jitter = 1, float border = 0.06, output float F1 = 0, output float F2 = 0,
               output color cell_color = 0, output color Cout = 0)
{
    point p = point(u, v, 0) * scale;
    point here = point(floor(p.x), floor(p.y), 0), nearest = here;
    F1 = F2 = 100;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            point cell = here + vector(i, j, 0);
            vector r = (vector)cellnoise(cell);
            point site = cell + vector(0.5 + jitter * (r.x - 0.5), 0.5 + jitter * (r.y - 0.5), 0);
            float d = distance(p, site);
            if (d < F1) {
                F2 = F1;
                F1 = d;
                nearest = cell;
            } else if (d < F2) {
                F2 = d;
            }
        }
    }
    cell_color = (color)cellnoise(nearest + vector(31, 7, 3));
    float w = filterwidth(p.x);
    Cout = mix(color(0.02), 0.2 + 0.8 * cell_color, smoothstep(border - w, border + w, F2 - F1));
}
