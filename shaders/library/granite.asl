// Granite: grains of three minerals by nested thresholds of fine noise.
shader granite(float frequency = 30, color feldspar = color(0.62, 0.5, 0.45), color quartz = color(0.75, 0.74, 0.72),
               color mica = color(0.06, 0.06, 0.07), output color Cout = 0, output float roughness = 0.3)
{
    point p = P * frequency;
    float a = noise("simplex", p), b = noise("simplex", p * 1.9 + 7), c = noise("simplex", p * 3.1 - 3);
    float w = length(filterwidth(p)) * 0.3 + 0.05;
    Cout = mix(feldspar, quartz, smoothstep(-w, w, a + 0.3 * c));
    Cout = mix(Cout, mica, smoothstep(0.45 - w, 0.45 + w, b + 0.2 * c));
    Cout *= 0.9 + 0.2 * (float)noise(p * 4);
    roughness = mix(0.35, 0.15, smoothstep(0, 0.3, a));
}
