// Arithmetic of int, float and triples: special cases of docs/reference/asl.md.
shader test(int zero = 0, float fzero = 0, int big = 2147483647)
{
    printf("%d %d %d %d\n", 7 / 2, -7 / 2, 7 % 3, -7 % 3);          //> 3 -3 1 -1
    printf("%d %d\n", 5 / zero, 5 % zero);                          //> 0 0
    printf("%g %g\n", 1 / fzero, mod(1.5, fzero));                  //> 0 1.5
    printf("%g\n", 5.5 % fzero);                                    //> 0
    printf("%g %g\n", 5.5 % 2.0, -5.5 % 2.0);                       //> 1.5 -1.5
    printf("%d %d\n", big + 1, -big - 2);                           //> -2147483648 2147483647
    printf("%d %d\n", (-big - 1) / -1, (-big - 1) % -1);            //> -2147483648 0
    printf("%d\n", big * 2);                                        //> -2
    printf("%d %d %d\n", 1 << 4, -16 >> 2, 1 << 33);                //> 16 -4 2
    printf("%d %d %d %d\n", 12 & 10, 12 | 10, 12 ^ 10, ~5);         //> 8 14 6 -6
    printf("%d %d %d\n", !3, !0, -(-4));                            //> 0 1 4
    printf("%g\n", 1 / 2 + 1.0 / 2);                                //> 0.5
    printf("%g\n", color(1, 2, 3) * 2 + 0.5);                       //> 2.5 4.5 6.5
    printf("%g\n", color(1, 2, 4) / color(2, 0, 8));                //> 0.5 0 0.5
    printf("%g\n", 6 / vector(1, 2, 3));                            //> 6 3 2
    printf("%g\n", -point(1, -2, 3));                               //> -1 2 -3
    printf("%d %d\n", color(1) == 1, color(1, 1, 2) != color(1));   //> 1 1
    printf("%d %d %d\n", 1 < 1.5, 2 >= 2, 3 > 4);                   //> 1 1 0
    printf("%d %d %d\n", 1 && 0, 0 || 2, not 0 and 1);              //> 0 1 1
    printf("%d\n", color(0, 0, 1e-30) && "x");                      //> 1
    printf("%d\n", point(0) || "");                                 //> 0
    printf("%d %d %d %d\n", (int)2.9, (int)-2.9, (int)1e20, (int)-1e20);  //> 2 -2 2147483647 -2147483648
}
