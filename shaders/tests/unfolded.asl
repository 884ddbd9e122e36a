//! grid 2 2
// What the optimiser cannot compute, so that devices do: everything hangs on where the point is. Printed where u = v = 1.
shader test(output color simplex[4] = {0, 0, 0, 0}, output float one = 0, output color hues[4] = {0, 0, 0, 0}, output color display = 0, output color back = 0, output point q = 0,
            output vector d = 0, output float f = 0, output color c = 0, output color slopes[3] = {0, 0, 0}, output float g = 0,
            output vector around[4] = {0, 0, 0, 0}, output float area = 0, output color whole = 0)
{
    // simplex noise in 1 to 4 dimensions: what OSL 1.14.7 gives
    point p = point(1.3, -2.4, 0.5) * u;
    one = noise("simplex", p, 0.2);
    simplex[0] = noise("simplex", 0.3 * u);
    simplex[1] = noise("simplex", 0.3 * u, -0.7 * v);
    simplex[2] = noise("simplex", p);
    simplex[3] = noise("simplex", p, 0.2);
    // hues: red is the largest, with green above blue and below it; green; blue
    hues[0] = transformc("rgb", "hsv", u * color(0.8, 0.5, 0.2));
    hues[1] = transformc("rgb", "hsv", u * color(0.8, 0.2, 0.5));
    hues[2] = transformc("rgb", "hsv", u * color(0.2, 0.8, 0.5));
    hues[3] = transformc("rgb", "hsl", u * color(0.3, 0.2, 0.8));
    // a hue that is not a number counts as 0 where int() takes it: (v, t, p), t of that hue
    color lost = transformc("hsv", "rgb", color(u * 1e38 * 1e38, 0.5, 0.8));
    int lost_t = isnan(lost[1]);
    // sRGB: 12.92 x below 0.0031308, and back below 0.04045
    display = transformc("rgb", "sRGB", u * color(0.002, 0.003, 0.5));
    back = transformc("sRGB", "rgb", u * color(0.03, 0.04, 0.5));
    // a point is divided by its fourth coordinate, a vector is not
    matrix m = matrix(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, u, 0, 0, 0, 1);
    q = transform(m, point(1, 2, 3));
    d = transform(m, vector(1, 2, 3));
    // straight lines through knots, and their changes in x and y
    f = spline("linear", 0.25 * v, 0, 1, 4, 5, 0);
    color k[4] = {color(0), color(v, 0, 0), color(0, 3 * v, 0), color(0)};
    c = spline("linear", 0.5 * u, k);
    slopes[0] = Dx(c);
    slopes[1] = Dy(c);
    slopes[2] = color(Dx(f), Dy(f), 0);
    // what a grid's points have that its shape alone tells
    around[0] = dPdu;
    around[1] = dPdv;
    around[2] = vector(N);
    around[3] = vector(Ng);
    area = surfacearea();
    // the least integer over -1, which no processor's division has; over 0 elsewhere
    int least = -2147483647 - int(u), minus = -int(v);
    whole = color(least / minus, least % minus, (least + 1) % minus);
    // Gabor noise, filtered by steps of half a unit askew
    point V = 3 * (point(0.75, 0.75, 0) + vector(0.4, -0.3, 0.1) * (u - 1) / Dx(u) + vector(0.3, 0.4, 0.2) * (v - 1) / Dy(v));
    g = noise("gabor", V);
    if (u < 1 || v < 1)
        exit();
    printf("%.4f | %.4f | %.4f | %.4f\n", simplex[0], simplex[1], simplex[2], simplex[3]); //> -0.2451 -0.1540 0.0400 | 0.3121 0.3121 0.0000 | -0.7545 0.3480 0.3480 | -0.4064 0.1592 0.0881
    printf("%.4f\n", one);                             //> -0.4064
    printf("%.4f | %.4f | %.4f | %.4f\n", hues[0], hues[1], hues[2], hues[3]);  //> 0.0833 0.7500 0.8000 | 0.9167 0.7500 0.8000 | 0.4167 0.7500 0.8000 | 0.6944 0.6000 0.5000
    printf("%.2f %d %.2f\n", lost[0], lost_t, lost[2]);   //> 0.80 1 0.40
    printf("%.5f | %.5f\n", display, back);         //> 0.02584 0.03876 0.73536 | 0.00232 0.00310 0.21404
    printf("%g | %g\n", q, d);                      //> 0.25 0.5 0.75 | 1 2 3
    printf("%g | %g | %g | %g | %g\n", around[0], around[1], around[2], around[3], area);  //> 1 0 0 | 0 1 0 | 0 0 1 | 0 0 1 | 1
    printf("%g\n", whole);                           //> -2.14748e+09 0 0
    printf("%g | %g | %g | %g | %g\n", f, slopes[2], c, slopes[0], slopes[1]);  //> 2.5 | 0 1.5 0 | 0.5 1.5 0 | -0.5 1.5 0 | 0.5 1.5 0
}
