// trace(), what getmessage() tells of it, and occlusion(), in a world that is the plane z = 0. P is (0.5, 0.5, 1), N (0, 0, 1).
shader test(int rays = 8)
{
    int hit = 7;
    float t = 7;
    point p = 7;
    color c = 7;
    printf("%d %d\n", getmessage("trace", "hit", hit), hit);                      //> 0 7
    printf("%d\n", trace(P, vector(0, 0, 1)));                                    //> 0
    printf("%d %d %d %g\n", getmessage("trace", "hit", hit), hit, getmessage("trace", "hitdist", t), t); //> 1 0 0 7
    printf("%d\n", trace(point(1, 2, 3), vector(0, 3, -3)));                      //> 1
    printf("%d %d\n", getmessage("trace", "hit", hit), hit);                      //> 1 1
    printf("%d %.4f\n", getmessage("trace", "hitdist", t), t);                    //> 1 4.2426
    printf("%d %.4g\n", getmessage("trace", "P", p), p);                          //> 1 1 5 0
    printf("%d %g\n", getmessage("trace", "N", c), c);                            //> 1 0 0 1
    printf("%d %g\n", getmessage("trace", "v", t), t);                            //> 1 5
    printf("%d %d %d\n", getmessage("trace", "P", t), getmessage("trace", "hit", t), getmessage("trace", "colour", c)); //> 0 0 0
    printf("%d\n", getmessage("elsewhere", "hit", hit));                          //> 0
    printf("%d %d\n", trace(P, vector(0, 0, -1), "maxdist", 0.5), trace(P, -N, "mindist", 2)); //> 0 0
    printf("%d\n", trace(P, -N, "shade", 0, "traceset", "", "maxdist", 2));       //> 1
    printf("%g\n", occlusion("samples", 4, "maxdist", 3));                        //> 11403
    printf("%g\n", occlusion("maxdist", 3.5, "samples", rays));                   //> 11803.5
    printf("%g\n", occlusion(point(0, 0, 2), normal(0, 0, 3), "maxdist", 1));     //> 24601
    printf("%g\n", occlusion("maxdist", 0, "samples", 1000 * rays));              //> 36600
    printf("%g\n", occlusion("maxdist", 0, "samples", -rays));                    //> 11100
    printf("%s\n", 0.5 * ambient_occlusion("maxdist", 3, "samples", 4));           //> (-5701, -5701, -5701) * emission ()
    P += 5;
    N = 9;
    printf("%g\n", occlusion("samples", 1, "maxdist", 1));                        //> 11101
}
