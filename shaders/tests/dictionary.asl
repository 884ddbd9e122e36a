// XML asked by XPath. Numbers of nodes are compared with 0 alone: engines may number otherwise.
string xml()
{
    return "<lamps xmlns='urn:x' unit=\"W\"><lamp name='left &amp; low' power='1e2' at='1,2 3'/>"
           "<!-- a note --><lamp name=\"right\" power='40'>warm<tint rgb='.5 .25'/></lamp></lamps>";
}

void list(string text, string query)
{
    for (int n = dict_find(text, query); n > 0; n = dict_next(n)) {
        string name = "?";
        int have = dict_value(n, "name", name), watt = -1;
        dict_value(n, "power", watt);
        printf("%d %s %d\n", have, name, watt);
    }
}

shader dictionary(string other = "<a><b/></a>")
{
    string text = xml();
    list(text, "//lamp");
    //> 1 left & low 1
    //> 1 right 40
    list(text, "//lamp[@power > 50]");
    //> 1 left & low 1
    int first = dict_find(text, "//lamp"), second = dict_next(first);
    point at = 9;
    int read = dict_value(first, "at", at);
    printf("%d %g\n", read, at);             //> 1 1 2 3
    read = dict_value(second, "at", at);
    printf("%d %g\n", read, at);             //> 0 1 2 3
    float f[4] = {7, 7, 7, 7};
    matrix m = 5;
    read = dict_value(dict_find(second, "tint"), "rgb", f);
    printf("%d %g\n", read, f);              //> 1 0.5 0.25 0 0
    dict_value(dict_find(second, "tint"), "rgb", m);
    printf("%g\n", m[0][1]);                 //> 0.25
    string own = "?", unit = "?";
    read = dict_value(dict_find(second, "text()"), "", own);
    printf("%d %s\n", read, own);            //> 1 warm
    read = dict_value(second, "", own);
    printf("%d [%s]\n", read, own);          //> 1 []
    dict_value(dict_find(second, ".."), "unit", unit);
    printf("%s\n", unit);                    //> W
    printf("%d %d %d\n", dict_find(text, "//nothing"), dict_find(first, "tint"), dict_next(second));
    //> 0 0 0
    printf("%d %d %d\n", dict_find(-3, "a"), dict_next(1000), dict_value(0, "a", own));
    //> 0 0 0
    printf("%d %d\n", dict_find(other, "a/b") > 0, dict_find("none.xml", "a"));
    //> 1 -1
    printf("%d %d %d\n", dict_find("<a>", "a"), dict_find(other, "a["), dict_find(other, "1 + 1"));
    //> -1 0 0
    printf("%d\n", dict_find("", "a"));
    //> -1
}
//! says error XML parsed with errors
//! says error Invalid dict_find query 'a['
//! says error Invalid dict_find query '1 + 1': it gives no nodes
//! says error XML parsed with errors
