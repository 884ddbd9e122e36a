// Moves vertices along their normals, by a height; without a layer before that gives one, by hills of
// four sizes. Only sums, products and noise: the vertices are the same on every machine.
float hills(point at)
{
    float sum = 0, size = 1;
    for (int i = 0; i < 4; i++) {
        sum += size * noise("perlin", at / size);
        size *= 0.5;
    }
    return sum;
}

displacement raise(float strength = 0.1, float scale = 1, float height = hills(scale * P))
{
    P += strength * height * N;
}
