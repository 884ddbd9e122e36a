// Plain weave: threads over and under, their round profile and twist; two colours of yarn.
shader weave(float threads = 30, color warp = color(0.15, 0.2, 0.45), color weft = color(0.75, 0.72, 0.62), float gap = 0.08,
             float twist = 0.3, output color Cout = 0, output float bump = 0, output vector tangent = 0)
{
    float s = u * threads, t = v * threads;
    float i = floor(s), j = floor(t), x = s - i - 0.5, y = t - j - 0.5;
    int over = (int)mod(i + j, 2) == 0; // the warp, along v, lies on top
    float across = over ? x : y, along = over ? y : x;
    float half_width = 0.5 - gap;
    float profile = 1 - min(1, pow(abs(across) / half_width, 2));
    float lift = cos(along * M_PI);
    float w = filterwidth(s);
    float inside = 1 - smoothstep(half_width - w, half_width + w, abs(across));
    float fibre = 0.5 + 0.5 * sin((across * 3 + along) * 40 * twist + 6 * cellnoise(i, j));
    color yarn = over ? warp : weft;
    yarn *= 0.75 + 0.25 * profile * lift + 0.15 * (fibre - 0.5);
    Cout = mix(0.05 * (warp + weft), yarn, inside);
    bump = inside * (0.3 + 0.7 * sqrt(max(profile, 0)) * lift);
    tangent = over ? dPdv : dPdu;
}
