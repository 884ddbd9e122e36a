// Which triple arithmetic gives.
void kind(point a) { printf("point "); }
void kind(vector a) { printf("vector "); }
void kind(normal a) { printf("normal "); }
void kind(color a) { printf("color "); }
void kind(float a) { printf("float "); }
shader test()
{
    vector v = vector(1, 2, 3); //! warning 9:12: 'v' hides the global variable
    color c = color(1, 2, 3);
    kind(P - P);
    kind(P + v);
    kind(v + P);
    kind(N + P);
    kind(P - v);
    kind(v - P);
    kind(v + N);
    kind(N * 2);
    kind(2 * N);
    kind(c * v);
    kind(v / c);
    kind(-P);
    kind(P * P);
    kind(1 / v);
    kind(v.x);
    kind(cross(N, v));
    kind(normalize(N));
    kind(normalize(P - P));
    kind(Dx(P));
    kind(mix(c, c, 0.5));
    printf("\n");   //> vector point point point point vector vector normal normal color vector point point vector float vector normal vector vector color 
}
