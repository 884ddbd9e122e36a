//! grid 2 2
// hash() of floats: the numbers that OSL's own test suite expects for these points.
shader test()
{
    float s = 0.25 + 0.5 * u, t = 0.25 + 0.5 * v;
    point p = point(s, t, 1);
    printf("%d %d %d %d\n", hash(s), hash(s, t), hash(p), hash(p, t));
}
//> -1518044388 -1622002383 -11273046 -2129896790
//> -1375811879 -802388107 -1172708893 1884197054
//> -1518044388 1343286349 451400267 418112862
//> -1375811879 2050085294 1398623619 -626565092
