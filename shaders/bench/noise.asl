// One noise call.
shader one_noise(string kind = "perlin", float frequency = 20, output color Cout = 0)
{
    Cout = noise(kind, P * frequency);
}
