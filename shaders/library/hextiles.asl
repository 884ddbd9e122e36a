// Hexagonal tiles with grout and a bevel; every tile has a shade and a slope of its own.
shader hextiles(float scale = 8, float grout = 0.06, float bevel = 0.1, color tile_a = color(0.75, 0.72, 0.65),
                color tile_b = color(0.2, 0.33, 0.4), float share = 0.35, output color Cout = 0, output float bump = 0,
                output float roughness = 0)
{
    float r3 = sqrt(3.0);
    float s = u * scale, t = v * scale;
    // two rectangular grids of centres, offset against each other; the nearer centre owns the point
    float ax = mod(s + 0.5, 1) - 0.5, ay = mod(t + r3 / 2, r3) - r3 / 2;
    float bx = mod(s, 1) - 0.5, by = mod(t, r3) - r3 / 2;
    float x = ax, y = ay;
    if (ax * ax + ay * ay > bx * bx + by * by) {
        x = bx;
        y = by;
    }
    float cx = s - x, cy = t - y;
    float edge = 0.5 - max(abs(x), abs(x) * 0.5 + abs(y) * r3 / 2);
    float id = cellnoise(floor(cx * 2 + 0.5), floor(cy / r3 * 2 + 0.5));
    float w = filterwidth(s);
    float in_tile = smoothstep(grout / 2 - w, grout / 2 + w, edge);
    color tile = id < share ? tile_b : tile_a;
    tile *= 0.85 + 0.3 * (float)cellnoise(floor(cx * 2 + 0.5), floor(cy / r3 * 2 + 0.5) + 51);
    Cout = mix(color(0.35, 0.34, 0.32), tile, in_tile);
    bump = smoothstep(grout / 2, grout / 2 + bevel, edge) * (1 + 0.1 * (x * (id - 0.5)));
    roughness = mix(0.9, 0.2, in_tile);
}
