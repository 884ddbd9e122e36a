// The second of three layers: eight octaves of noise in colour.
shader net_costly(int octaves = 8, output color tex = 0)
{
    point q = P * 10;
    float weight = 1;
    for (int k = 0; k < octaves; k++) {
        tex += weight * (color)snoise(q);
        weight *= 0.5;
        q *= 2.1;
    }
    tex = 0.5 * tex + 0.5;
}
