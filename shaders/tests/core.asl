var x;
var y;
x = 5;
y = 4;
skip;
printf("%d %d\n", x, y);
//> 5 4
