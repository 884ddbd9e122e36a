// Blades of grass on a disk, one triangle each; about a tenth of the places stay bare, where the corners stay
// together and make no triangle.
surface meadow(float radius = 3, float height = 0.3, float width = 0.03,
    output point corners[3] = {0, 0, 0}, output normal normals[3] = {0, 0, 0}, output vector uvs[3] = {0, 0, 0})
{
    int blade = 0;
    getattribute("point:index", blade);
    float far = radius * sqrt(cellnoise(blade, 1)), a = M_2PI * cellnoise(blade, 2);
    if (cellnoise(blade, 3) < 0.1)
        return;
    point root = point(far * cos(a), 0, far * sin(a));
    float turn = M_2PI * cellnoise(blade, 4);
    vector side = width * vector(cos(turn), 0, sin(turn));
    vector lean = 0.4 * height * vector(cellnoise(blade, 5) - 0.5, 0, cellnoise(blade, 6) - 0.5);
    corners[0] = root - side;
    corners[1] = root + side;
    corners[2] = root + lean + vector(0, height * (0.5 + 0.5 * cellnoise(blade, 7)), 0);
    for (int k = 0; k < 3; k++) {
        normals[k] = normal(0, 1, 0) + 0.5 * normal(lean);
        uvs[k] = vector(k == 2, cellnoise(blade, 8), 0);
    }
}
