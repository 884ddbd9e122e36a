// What running a shader costs when it computes nothing.
shader null(output color Cout = 0) { Cout = color(0.25, 0.5, 0.75); }
