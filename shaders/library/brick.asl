// Bricks in running bond: every second row is shifted; each brick has a shade of its own, mortar has a profile.
shader brick(float columns = 6, float rows = 14, float mortar = 0.06, float variation = 0.35, float roughen = 0.4,
             color brick_a = color(0.45, 0.13, 0.08), color brick_b = color(0.62, 0.28, 0.16),
             color mortar_color = color(0.55, 0.53, 0.5), output color Cout = 0, output float bump = 0,
             output float roughness = 0)
{
    float s = u * columns, t = v * rows;
    float row = floor(t);
    s += mod(row, 2) * 0.5;
    float column = floor(s);
    float x = s - column, y = t - row;
    float aspect = rows / columns;
    float edge = min(min(x, 1 - x) * aspect, min(y, 1 - y));
    float w = filterwidth(t);
    float wobble = 0.02 * snoise(P * 40);
    float in_brick = smoothstep(mortar - 0.02 - w, mortar + 0.02 + w, edge + wobble);
    color shade = mix(brick_a, brick_b, cellnoise(column, row));
    shade *= 1 + variation * ((float)cellnoise(column + 17, row) - 0.5) + roughen * 0.3 * (float)snoise(P * 90);
    Cout = mix(mortar_color * (0.85 + 0.15 * (float)noise(P * 60)), max(shade, color(0)), in_brick);
    bump = in_brick * (0.8 + 0.2 * noise(P * 50));
    roughness = mix(0.95, 0.75, in_brick);
}
