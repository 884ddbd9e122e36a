// Matrices: construction, products, inverse by division, determinant, transforms.
shader test()
{
    matrix a = 2, b = matrix(1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1);
    printf("%g\n", a);                                      //> 2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 2
    printf("%g %g\n", b[3][1], a[1][1]);                    //> 6 2
    b[0][3] = 0;
    printf("%g\n", a * b);                                  //> 2 0 0 0 0 4 0 0 0 0 8 0 10 12 14 2
    printf("%g\n", b / b);                                  //> 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1
    printf("%g\n", 1 / a);                                  //> 0.5 0 0 0 0 0.5 0 0 0 0 0.5 0 0 0 0 0.5
    printf("%g %g\n", determinant(b), determinant(a));      //> 8 16
    printf("%g\n", transpose(b));                           //> 1 0 0 5 0 2 0 6 0 0 4 7 0 0 0 1
    printf("%g\n", transform(b, point(1, 1, 1)));           //> 6 8 11
    printf("%g\n", transform(b, vector(1, 1, 1)));          //> 1 2 4
    printf("%g\n", transform(b, normal(1, 1, 1)));          //> 1 0.5 0.25
    printf("%g\n", transform("object", "common", point(1, 1, 1)));   //> 3 4 5
    printf("%g\n", transform("object", point(3, 4, 5)));    //> 1 1 1
    printf("%g\n", point("object", 0, 0, 0));               //> 1 2 3
    printf("%g\n", vector("object", 1, 0, 0));              //> 2 0 0
    printf("%g\n", normal("object", 1, 0, 0));              //> 0.5 0 0
    printf("%g\n", matrix("object", "common"));             //> 2 0 0 0 0 2 0 0 0 0 2 0 1 2 3 1
    // the object's matrix times the sixteen numbers
    printf("%g\n", matrix("object", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));   //> 2 4 6 8 10 12 14 16 18 20 22 24 51 58 65 72
    matrix m;
    printf("%d %g\n", getmatrix("object", m), m[3][2]);     //> 1 3
    printf("%d\n", getmatrix("nowhere", "common", m));      //> 0
    printf("%d %d\n", a == 2, a != b);                      //> 1 1
    printf("%g\n", -a * 3);                                 //> -6 -0 -0 -0 -0 -6 -0 -0 -0 -0 -6 -0 -0 -0 -0 -6
    matrix z = 0;
    printf("%g\n", b / z);                                  //> 1 0 0 0 0 2 0 0 0 0 4 0 5 6 7 1
    printf("%g\n", transform("nowhere", P));                //> 0.5 0.5 1
}
//! says error Unknown transformation "nowhere"
