// A floor in the rain: wet, dark and smooth where a ray against the rain meets nothing, dry under cover; a high cover lets drops in.
shader rain(color dry = color(0.42, 0.41, 0.4), vector up = vector(0.25, 1, 0.1), float height = 3, output color Cout = 0, output float roughness = 0.8)
{
    float far = 0, wet = 0.55 + 0.45 * (float)noise(P * 3);
    if (trace(P, up, "maxdist", height) && getmessage("trace", "hitdist", far))
        wet *= 0.5 * smoothstep(0.3, height, far + 0.3 * (float)noise(P * 11));
    Cout = dry * mix(1.0, 0.4, wet);
    roughness = mix(0.9, 0.12, wet);
}
