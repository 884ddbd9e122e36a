// Camouflage: four tones by thresholds of warped noise.
shader camouflage(float frequency = 4, color c0 = color(0.12, 0.14, 0.08), color c1 = color(0.24, 0.27, 0.14), color c2 = color(0.45, 0.42, 0.28),
                  color c3 = color(0.2, 0.13, 0.08), output color Cout = 0)
{
    point p = P * frequency + 0.5 * (vector)snoise(P * frequency * 1.7);
    float a = snoise(p), b = snoise(p * 1.3 + 17), c = snoise(p * 1.1 - 9), w = length(filterwidth(p)) * 0.5 + 0.01;
    Cout = mix(c1, c0, smoothstep(-w, w, a - 0.05));
    Cout = mix(Cout, c2, smoothstep(-w, w, b - 0.2));
    Cout = mix(Cout, c3, smoothstep(-w, w, c - 0.3));
}
