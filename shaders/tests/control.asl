// Control flow, scopes, evaluation order.
int order(string s, int v)
{
    printf("%s", s);
    return v;
}
shader test()
{
    int n = 0;
    for (int i = 0; i < 10; ++i) {
        if (i == 2)
            continue;
        if (i == 6)
            break;
        n += i;
    }
    printf("%d\n", n);                                      //> 13
    int k = 0;
    while (k < 3)
        k++;
    do {
        k += 10;
    } while (k < 30);
    printf("%d\n", k);                                      //> 33
    int a = 1;
    {
        int a = 5;
        a++;
    }
    printf("%d\n", a);                                      //> 1
    int r = order("a", 0) && order("b", 1);
    r = order("c", 1) || order("d", 1);
    r = order("e", 1) + order("f", 2) * order("g", 3);
    printf(" %d\n", r);                                     //> acefg 7
    int p = 5, q = p++ + ++p;
    printf("%d %d\n", p, q);                                //> 7 12
    p = (q = 3, q + 1); //! warning 37:15: a comma inside parentheses
    printf("%d %d\n", p, q);                                //> 4 3
    p = q = 9;
    printf("%d %d %d\n", p, q, p > 5 ? 1 : 2);              //> 9 9 1
    for (;;) {
        if (--p < 0)
            break;
    }
    printf("%d\n", p);                                      //> -1
    for (int i = 0; i < 2; i++) {
        float x;
        printf("%g ", x);
        x = 7;
    }
    printf("\n");                                           //> 0 0 
    if (p == 1)
        printf("one\n");
    else if (p == -1)
        printf("minus one\n");                              //> minus one
    else
        printf("other\n");
    exit();
    printf("not reached\n");
}
