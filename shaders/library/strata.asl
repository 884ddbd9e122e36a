// Terrain strata: layers of rock that follow the height, folded and faulted; snow lies where it is high and flat.
shader strata(float layers = 14, float fold = 0.15, float snow_line = 0.75, output color Cout = 0, output float roughness = 0.9)
{
    point q = P;
    float h = v + fold * snoise(q * 2) + 0.3 * fold * snoise(q * 7);
    h += 0.04 * cellnoise(floor(u * 3 + 0.6 * v)); // faults
    float band = h * layers;
    float i = floor(band), f = band - i;
    color a = mix(color(0.45, 0.3, 0.2), color(0.7, 0.58, 0.42), cellnoise(i));
    color b = mix(color(0.45, 0.3, 0.2), color(0.7, 0.58, 0.42), cellnoise(i + 1));
    color rock = mix(a, b, smoothstep(0.75, 1, f));
    rock *= 0.8 + 0.4 * (float)noise(point(q.x * 40, h * 200, q.z * 40));
    float flat = clamp(N.y, 0, 1) * 0.5 + 0.5;
    float snow = smoothstep(snow_line, snow_line + 0.06, h * flat + 0.5 * (1 - flat) + 0.05 * snoise(q * 20));
    Cout = mix(rock, color(0.92, 0.94, 0.97), snow);
    roughness = mix(0.9, 0.6, snow);
}
