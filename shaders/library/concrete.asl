// Concrete: blotches at several scales, pores, and the marks of the formwork's boards.
shader concrete(float boards = 5, float pores = 60, color base = color(0.52, 0.51, 0.49), output color Cout = 0, output float bump = 0,
                output float roughness = 0.85)
{
    float sum = 0, a = 0.5;
    point p = P * 3;
    for (int i = 0; i < 6; i++) {
        sum += a * (float)snoise(p);
        p = p * 2.1 + 3;
        a *= 0.55;
    }
    float row = v * boards, edge = min(row - floor(row), 1 - (row - floor(row)));
    float joint = 1 - smoothstep(0.01, 0.03, edge + 0.01 * (float)snoise(u * 30));
    vector r = (vector)cellnoise(point(floor(u * pores), floor(v * pores), 3));
    float fx = u * pores - floor(u * pores), fy = v * pores - floor(v * pores);
    float hole = r.z > 0.9 ? 1 - smoothstep(0.1, 0.2, hypot(fx - 0.3 - 0.4 * r.x, fy - 0.3 - 0.4 * r.y)) : 0;
    Cout = base * (1 + 0.25 * sum + 0.06 * ((float)cellnoise(floor(row)) - 0.5)) * (1 - 0.25 * joint) * (1 - 0.5 * hole);
    bump = 0.2 * sum - joint - hole;
}
