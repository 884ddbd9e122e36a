// Wooden planks: long boards with butt joints, each cut from another place of the same wood.
shader planks(float boards = 7, float length_ratio = 5, color light_wood = color(0.62, 0.42, 0.24), color dark_wood = color(0.33, 0.19, 0.1),
              output color Cout = 0, output float bump = 0, output float roughness = 0)
{
    float t = v * boards, row = floor(t), s = u * boards / length_ratio + (float)cellnoise(row, 3), i = floor(s);
    float y = t - row, x = s - i, id = cellnoise(i, row);
    point p = point(x * length_ratio * 0.35 + 10 * id, y + 3 * id, 7 * id);
    float ring = hypot(p.y - 0.5 + 0.15 * (float)snoise(p * 1.5), p.z + 0.12 * (float)snoise(point(p.x * 3, p.y * 8, 1))) * 9;
    float late = smoothstep(0.3, 0.95, ring - floor(ring)), fibre = noise(point(p.x * 8, p.y * 90, p.z));
    float gap = min(min(y, 1 - y), min(x, 1 - x) * length_ratio), w = filterwidth(t);
    float inside = smoothstep(0.015, 0.03 + w, gap);
    Cout = mix(light_wood, dark_wood, 0.6 * late + 0.3 * fibre) * (0.75 + 0.5 * id) * (0.15 + 0.85 * inside);
    bump = inside - 0.15 * fibre;
    roughness = 0.4 + 0.3 * fibre;
}
