//! grid 40 40
// Gabor noise: zero mean, stays inside about [-1,1], filtering fades it, derivatives match differences; printed at the last point.
shader test()
{
    if (u < 1 || v < 1)
        exit();
    float sum = 0, high = 0, var = 0, fine = 0;
    int n = 0, bad = 0;
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 40; j++) {
            point p = point(i * 0.37, j * 0.41, 2.5);
            float g = noise("gabor", p, "do_filter", 0);
            sum += g;
            var += g * g;
            high = max(high, abs(g));
            // over steps of 3 units waves of frequency 1 are gone
            fine = max(fine, abs(noise("gabor", p + point(u, v, u + v) * 120.0)));
            float h = 1e-3;
            float d = (noise("gabor", p + vector(h, 0, 0), "do_filter", 0) - noise("gabor", p - vector(h, 0, 0), "do_filter", 0)) / (2 * h);
            float e = Dx(noise("gabor", p + vector(u - 1, 0, 0), "do_filter", 0)) * 39;
            if (abs(d - e) > 0.02) // kernels end with a jump, which about 6% of the differences straddle
                bad++;
            n++;
        }
    }
    float sigma = sqrt(var / n);
    printf("%d %d %d %d %d\n", abs(sum / n) < 0.05, high < 1.2, sigma > 0.1 && sigma < 0.3, fine < 0.3 * high, bad < n / 8);   //> 1 1 1 1 1
    color c = noise("gabor", P * 3, "anisotropic", 1, "direction", vector(4, 0, 0), "bandwidth", 2.0, "impulses", 32);
    printf("%d %d\n", c[0] != c[1] && c[1] != c[2], c[0] == (float)noise("gabor", P * 3, "anisotropic", 1, "direction", vector(4, 0, 0), "bandwidth", 2.0, "impulses", 32));   //> 1 1
    // bandwidth and impulses are kept in their ranges, ints count as numbers
    printf("%d %d\n", (float)noise("gabor", P, "impulses", 100) == (float)noise("gabor", P, "impulses", 32.0),
           (float)noise("gabor", P, "bandwidth", -1) == (float)noise("gabor", P, "bandwidth", 0.01)); //> 1 1
    // what OSL 1.14.7 gives
    point Q = point(1.3, -2.4, 0.5);
    printf("%.5f %.5f %.5f %.5f\n", (float)noise("gabor", point(0.3, 0.4, 0.5), "do_filter", 0), (float)noise("gabor", 0.3), (float)noise("gabor", 0.3, -0.7, "do_filter", 0),
           (float)noise("gabor", Q, 0.5, "do_filter", 0));     //> -0.20800 0.00318 0.01496 -0.09878
    printf("%.5f\n", (color)noise("gabor", Q, "do_filter", 0));    //> -0.09878 -0.02603 -0.19343
    printf("%.5f %.5f %.5f\n", (float)noise("gabor", Q, "do_filter", 0, "anisotropic", 0, "bandwidth", 2, "impulses", 5.5),
           (float)noise("gabor", Q, "do_filter", 0, "anisotropic", 1, "direction", vector(1, 2, .5), "bandwidth", 2.0, "impulses", 5.5),
           (float)noise("gabor", Q, "do_filter", 0, "anisotropic", 3, "direction", vector(1, 2, .5), "bandwidth", 2.0, "impulses", 5.5)); //> 0.02150 -0.03556 0.14938
    printf("%.5f\n", (float)pnoise("gabor", Q, point(2, 3, 4), "do_filter", 0));   //> 0.03900
    // periods count cells, which are a radius wide
    float radius = 1.11590123 / (4.25786829 / 3), back = pnoise("gabor", Q + point(2 * radius, -3 * radius, 4 * radius), point(2, 3.5, 4));
    printf("%d %d\n", abs(back - pnoise("gabor", Q, point(2, 3, 4))) < 1e-5, (float)pnoise("gabor", 0.4, 3) == (float)pnoise("gabor", point(0.4, 0, 0), point(3, 0, -2)));   //> 1 1
    // the filter over steps of half a unit, and the changes beside it, as OSL 1.14.7 gives them
    float s = 0.353553385 * 39;
    vector V = 3 * (point(0.750263333, 0.750263333, 0) + vector(s, -s, 0) * (u - 1) + vector(s, s, 0) * (v - 1));
    float g = noise("gabor", V, "do_filter", 0), f = noise("gabor", V);
    printf("%.4f %.4f %.4f %.5f %.5f %.5f\n", g, Dx(g), Dy(g), f, Dx(f), Dy(f));    //> 0.3300 0.6352 2.0690 0.01160 0.01831 0.00606
    color c1 = noise("gabor", V * 0.2, "anisotropic", 1, "direction", vector(1, 2, .5));
    printf("%.5f | %.5f\n", c1, Dx(c1));    //> 0.01650 -0.03825 0.00575 | -0.02695 -0.03214 0.00873
    printf("%g %g\n", (float)noise("gabor", log(-1) * 0 + (1e38 * 1e38 - 1e38 * 1e38)), (float)noise("gabor", 1e38 * 1e38));    //> 0 0
}
