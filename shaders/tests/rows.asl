//! grid 2 2
// What points in a row share, and what each has for itself. Printed where u = v = 1.
shader test(output float few = 0, output color several = 0, output color apart = 0, output float back = 0, output float curve = 0, output color bent = 0, output float rise = 0,
            output float row[5] = {0, 0, 0, 0, 0}, output int marks[4] = {0, 0, 0, 0}, output float rest[3] = {0, 0, 0})
{
    // noise at points in a row: in cells next to each other, within some, far apart; from right to left
    few = noise("perlin", point(1.9 * u - 3.2, 0.37, -1.71));
    several = noise(point(6.3 * u + 0.25, -2.6, 7.125));
    apart = noise("perlin", point(97 * u - 40, 0.5, 4.2));
    back = snoise(point(2.5 - 2.2 * u, 1.5, 0.875)) + noise("uperlin", point(-5.5 * u, -0.25, 3.5));
    // splines of more segments than are blended, with their slopes
    float k[20] = {0, 0.1, 0.2, 0.4, 0.3, 0.6, 0.5, 0.9, 0.7, 1, 0.8, 0.2, 0.4, 0.3, 0.7, 0.6, 0.1, 0.9, 0.5, 0.2};
    color c[18];
    for (int i = 0; i < 18; i++)
        c[i] = color(0.5 * i, u * i, v);
    curve = spline("linear", 0.5 * u, k) + spline("catmull-rom", u * v, k);
    bent = spline("linear", 0.25 * v, c) + spline("bspline", u, c);
    rise = Dx(spline("linear", 0.5 * u, k));
    // slots that each point has its own of, read and written, by some points only
    int at = int(4.99 * u), other = 4 - at;
    row[at] = 1 + v;
    if (v > 0.4)
        row[other] += 2 * u + 0.25;
    row[(at + other * 3) % 5] -= row[at];
    marks[at & 3] = at + 1;
    if (u > 0.6 - v)
        marks[(3 * at + 1) & 3] += marks[at & 3] * 10;
    // remainders of numbers that are far apart
    rest[0] = fmod(3e8 * (u + 0.5), 0.003 + 0.01 * v);
    rest[1] = fmod(-1e20 * u - v, 7 + u);
    rest[2] = fmod(1e-20 * u, 3e-30 + 1e-38 * v);
    if (u < 1 || v < 1)
        exit();
    printf("%.4f | %.4f | %.4f\n", curve, bent, rise); //> 1.4000 | 10.3750 20.7500 2.0000 | -1.7000
    printf("%g | %d\n", row, marks);                   //> 2.25 0 0 0 0 | 5 50 0 0
    printf("%.9g\n", rest);                            //> 0.00243052468 -0 2.944458e-30
}
