// Wood: growth rings about the y axis, bent by noise, with fine grain along it.
shader wood(float ring_frequency = 12, float bend = 0.25, float grain = 60, float tilt = 0.08,
            color light_wood = color(0.66, 0.43, 0.22), color dark_wood = color(0.32, 0.16, 0.07),
            output color Cout = 0, output float roughness = 0)
{
    point q = rotate(P - vector(0.5, 0, 0.2), tilt, vector(1, 0, 0));
    point bent = q + bend * (vector)snoise(point(q.x * 2, q.y * 0.4, q.z * 2));
    float r = hypot(bent.x, bent.z) * ring_frequency;
    r += 0.4 * snoise(r * 0.5, 3.7);
    float ring = r - floor(r);
    float late = smoothstep(0.15, 0.85, ring) * (1 - smoothstep(0.88, 1, ring)); // slow growth, then an abrupt spring
    float fibre = noise(point(bent.x * grain, bent.y * grain * 0.03, bent.z * grain));
    Cout = mix(light_wood, dark_wood, clamp(late * 0.85 + 0.25 * (fibre - 0.5), 0, 1));
    roughness = 0.45 + 0.2 * fibre - 0.15 * late;
}
