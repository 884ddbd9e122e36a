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
    printf("%g %g\n", pnoise("gabor", 0.5, 3), noise("gabor", 0.5, "colour", 3) * 0);      //> 0 0
}
//! says error Unknown noise type "gabor" for periodic noise
//! says error Unknown noise option "colour"
