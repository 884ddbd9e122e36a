// The last of three layers: where useTex is 0 the second one does not run.
shader net_final(float fac = 0.5, color tex = 0, int useTex = 0, color a = color(0.8, 0.3, 0.1), color b = color(0.1, 0.3, 0.7),
                 output color Cout = 0)
{
    color c = mix(a, b, fac);
    if (useTex)
        c = 0.5 * (c + tex);
    Cout = c * (0.5 + 0.5 * u);
}
