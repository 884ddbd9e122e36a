// Denim: twill, with the warp over two threads and under one; indigo outside, white where the thread is worn.
shader denim(float threads = 60, float wear = 0.35, color indigo = color(0.06, 0.1, 0.25), color cotton = color(0.8, 0.8, 0.76), output color Cout = 0,
             output float bump = 0)
{
    float s = u * threads, t = v * threads, i = floor(s), j = floor(t), x = s - i - 0.5, y = t - j - 0.5;
    int over = mod(i + j, 3) >= 1;
    float across = over ? x : y, along = over ? y : x;
    float round_profile = sqrt(max(0, 1 - 4 * across * across)), slub = 0.7 + 0.6 * (float)noise(point(over ? i : j, 0, 3), (over ? t : s) * 0.1);
    float worn = smoothstep(1 - wear, 1.2, (float)noise(P * 4) + 0.35 * round_profile);
    color dyed = mix(indigo * slub, cotton, worn);
    Cout = (over ? dyed : cotton * 0.7 * slub) * (0.55 + 0.45 * round_profile * cos(along * 2.5));
    bump = (over ? 1 : 0.6) * round_profile * cos(along * 2.5);
}
