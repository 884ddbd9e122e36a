// A node: the normal of a surface that a height displaces; connect a height from a layer before.
shader bump_from_height(float height = 0.05 * sin(20 * u) * sin(20 * v), float strength = 1, output normal bent = 0, output color Cout = 0)
{
    point q = P + strength * height * vector(normalize(N));
    vector n = calculatenormal(q);
    bent = dot(n, n) > 0 ? normalize((normal)n) : N;
    Cout = 0.5 + 0.5 * color(bent);
}
