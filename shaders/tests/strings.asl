// String functions; most lines are those of the OSL specification's examples.
shader test(string newline = "\n")
{
    printf("%s\n", "foo" "bar" "baz");                      //> foobarbaz
    printf("foo\\nbar%s", newline);                         //> foo\nbar
    printf("%s|\n", format("P = %g", P));                   //> P = 0.5 0.5 1|
    printf("%s\n", concat("foo", "bar", "baz", "1", "2", "3", "4"));     //> foobarbaz1234
    printf("%d %d\n", strlen(""), strlen("abc"));           //> 0 3
    printf("%s %s %s\n", substr("abcdefg", 0), substr("abcdefg", 3), substr("abcdefg", -2));   //> abcdefg defg fg
    printf("%s %s '%s' '%s'\n", substr("abcdefg", 3, 2), substr("abcdefg", 0, 20), substr("abcdefg", 0, -4), substr("abc", 9));   //> de abcdefg '' ''
    printf("%d %d %d %d\n", startswith("abcdef", "abc"), startswith("abcdef", "def"), startswith("", "abc"), startswith("", ""));   //> 1 0 0 1
    printf("%d %d %d %d\n", endswith("abcdef", "abc"), endswith("abcdef", "def"), endswith("abcdef", "ghiabcdef"), endswith("", ""));   //> 0 1 0 1
    printf("%d %d %d %d\n", stoi("-23"), stoi(" 42x"), stoi("x"), stoi("99999999999"));     //> -23 42 0 2147483647
    printf("%g %g %g %g\n", stof("3.14"), stof("1e3z"), stof("inf"), stof("-.5"));          //> 3.14 1000 0 -0.5
    string w[10];
    int n = split(" 2 4\t6    8", w);
    printf("%d %s,%s,%s,%s\n", n, w[0], w[1], w[2], w[3]);  //> 4 2,4,6,8
    n = split("3,6,9,12", w, ",");
    printf("%d %s,%s,%s,%s\n", n, w[0], w[1], w[2], w[3]);  //> 4 3,6,9,12
    n = split("a::b::::c", w, "::", 2);
    printf("%d %s,%s\n", n, w[0], w[1]);                    //> 2 a,b::::c
    string three[3];
    n = split("a,b,,c", three, ",");
    printf("%d %s|%s|%s\n", n, three[0], three[1], three[2]);   //> 3 a|b|,c
    n = split(" a b  c ", three, "", 2);
    printf("%d %s|%s.\n", n, three[0], three[1]);           //> 2 a|b  c .
    printf("%d %d %d\n", split("a b", w, "", 0), split("a b", w, "", -1), split("a b", w, "", 9));   //> 0 0 2
    printf("%d %d\n", split("", w, ","), split("a,", w, ","));   //> 0 2
    printf("%d %d %d %d\n", getchar("Hello", 0), getchar("Hello", 4), getchar("Hello", -1), getchar("Hello", 5));   //> 72 111 0 0
    printf("%d %d\n", "a" == "a", "a" != "b");              //> 1 1
    printf("%d %d\n", hash("abc") == hash("abc"), hash("abc") == hash("abd"));              //> 1 0
    printf("[%5d|%-5d|%05d|%x|%o]\n", 42, 42, 42, 255, 8);  //> [   42|42   |00042|ff|10]
    printf("[%8.3f|%e|%-8g|%%]\n", 3.14159, 1.5, 0.25);     //> [   3.142|1.500000e+00|0.25    |%]
    printf("[%5s|%-5s|%.2s]\n", "ab", "ab", "abc");         //> [   ab|ab   |ab]
    float inf = pow(10.0, 38) * 1e30;
    printf("%g %g %d %d\n", inf, -inf, isinf(inf), isnan(inf - inf));    //> inf -inf 1 1
    printf("%g\n", inf - inf);                              //> nan
    int iarray[5] = { 1, 2, 3, 4, 5 };
    printf("iarray = %d\n", iarray);                        //> iarray = 1 2 3 4 5
    error("bad %d", 3);
    error("bad %d", 3);
    warning("careful");
    fprintf("log.txt", "x = %g\n", 2.0);                    //> log.txt: x = 2
}
//! says error bad 3
//! says warning careful
