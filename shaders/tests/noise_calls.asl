// The many ways to call noise, and what they have in common.
int same(color a, color b) { return a == b; }
shader test()
{
    point p = point(0.3, 1.7, -2.2);
    float t = 4.6;
    printf("%d %d %d %d\n", (float)noise(0.3) == (float)noise("uperlin", 0.3), (float)snoise(0.3, t) == (float)noise("perlin", 0.3, t),
           same(noise(p), noise("noise", p)), same(snoise(p, t), noise("snoise", p, t)));          //> 1 1 1 1
    printf("%d %d\n", same(cellnoise(p), noise("cell", p)), same(hashnoise(p, t), noise("hash", p, t)));    //> 1 1
    printf("%d %d\n", same(cellnoise(0.3), cellnoise(0.9)), same(cellnoise(0.3), cellnoise(1.3)));           //> 1 0
    printf("%d %d\n", (float)pnoise(0.3, 4) == (float)pnoise(8.3, 4), (float)psnoise(p, point(3, 5, 7)) == (float)pnoise("perlin", p, point(3, 5, 7)));   //> 0 1
    printf("%d\n", abs((float)pnoise(0.25, 4) - (float)pnoise(8.25, 4)) == 0);                              //> 1
    printf("%d\n", (float)psnoise(p, t, point(3), 2) == (float)psnoise(p + vector(0, 3, 0), t, point(3), 2) ||
                   abs((float)psnoise(p, t, point(3), 2) - (float)psnoise(p + vector(0, 3, 0), t, point(3), 2)) < 1e-5);   //> 1
    float f = noise(p);
    color c = noise(p);
    vector v = noise(p); //! warning 17:12: 'v' hides the global variable
    printf("%d %d\n", c == v, c[0] == f);                   //> 1 1
    printf("%g %g %g\n", abs((float)snoise(3)), abs((float)snoise(-4, 7)), (float)noise(point(1, 2, 3), 4));           //> 0 0 0.5
    printf("%g\n", (float)noise("marble", p));              //> 0
    printf("%g %g\n", (float)pnoise("marble", p, p), (float)pnoise("simplex", p, p));   //> 0 0
    printf("%d %d\n", (float)noise("gabor", p, "colour", 3) == (float)noise("gabor", p), (float)noise("gabor", p, "anisotropic", 1.0) == (float)noise("gabor", p));   //> 1 1
    N = normal(0, 0, 1);
    bump(0.0);
    printf("%g | %g\n", N, P);                              //> 0 0 1 | 0.5 0.5 1
    bump(vector(0, 0, 2 * u));
    printf("%.4f\n", N);                                    //> -0.8944 0.0000 0.4472
    displace("common", 1.0);
    printf("%.4f\n", P);                                    //> -0.3944 0.5000 1.4472
}
//! says error noise type "marble" is unknown, called from (
//! says error periodic noise type "marble" is unknown, called from (
//! says error periodic noise type "simplex" is unknown, called from (
//! says error Unknown noise option "colour"
//! says error Unknown noise option "anisotropic"
