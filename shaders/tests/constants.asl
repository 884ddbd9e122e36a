//! grid 4 4
// Coordinates of noise that a compiler knows, alone and beside others. What it computes of them before the shader runs has to have the
// roundings of the text: with a fused fade, or with t (6 t - 15) multiplied out, these numbers give another. Each kind stands once a
// dimension, so that its text is copied to where it is called.
shader test(output float n[4] = {0, 0, 0, 0}, output float s[4] = {0, 0, 0, 0}, output float p[4] = {0, 0, 0, 0}, output float q[4] = {0, 0, 0, 0},
            output float x[4] = {0, 0, 0, 0}, output float known[4] = {0, 0, 0, 0})
{
    n[0] = noise(0.61289);
    n[1] = noise(u, 1.44);
    n[2] = noise(point(0.44, v, -1.38711));
    n[3] = noise(point(u, 0.78, v), 0.61289);
    s[0] = snoise(-2.31);
    s[1] = snoise(0.78, v);
    s[2] = snoise(point(u, v, 0.42));
    s[3] = snoise(P, 0.61289);
    p[0] = pnoise(2.69, 3);
    p[1] = pnoise(2.3, v + 0.6, 3, 2);
    p[2] = pnoise(point(0.42, u, 1.51), point(2, 3, 4));
    p[3] = pnoise(P, 2.76, point(2, 3, 4), 5);
    q[0] = psnoise(1.42, 2);
    q[1] = psnoise(u - 0.37, 0.51, 4, 3);
    q[2] = psnoise(point(u, 1.78, v), point(3, 2, 3));
    q[3] = psnoise(point(0.51, 0.76, u), v, point(2, 2, 2), 3);
    x[0] = noise("usimplex", 0.44);
    x[1] = noise("usimplex", u, 1.61289);
    x[2] = noise("simplex", point(0.76, v, 0.42));
    x[3] = noise("simplex", P, 0.51);
    // the fade itself, of a number that floor() hides from some
    for (int i = 0; i < 4; i++) {
        float c[4] = {0.61289, 2.69, -2.31, 0.44}, t = c[i] - floor(c[i]);
        known[i] = t * t * t * (t * (t * 6 - 15) + 10);
    }
    if (u < 1 || v < 1)
        exit();
    printf("%.4f %.4f %.4f %.4f\n", n[0], n[1], n[2], n[3]);  //> 0.6017 0.3940 0.6864 0.4711
    printf("%.4f %.4f %.4f %.4f\n", s[0], s[1], s[2], s[3]);  //> 0.0696 0.0579 0.2670 -0.0765
    printf("%.4f %.4f %.4f %.4f\n", p[0], p[1], p[2], p[3]);  //> 0.1867 0.5474 0.4971 0.6204
    printf("%.4f %.4f %.4f %.4f\n", q[0], q[1], q[2], q[3]);  //> -0.2387 -0.0222 0.2570 0.0037
    printf("%.4f %.4f %.4f %.4f\n", x[0], x[1], x[2], x[3]);  //> 0.4332 0.1470 -0.1190 -0.1753
    printf("%.9g %.9g %.9g %.9g\n", known[0], known[1], known[2], known[3]);  //> 0.704585195 0.823440731 0.823440731 0.388575315
}
