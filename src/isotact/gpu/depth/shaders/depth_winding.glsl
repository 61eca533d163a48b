// How often rays are within closed elements where the object's parts begin: in the first place of a
// pixel what lies before its first part, in the second what lies between the first two's beginnings,
// and so on. Elements add (number + 1) << 8 | 1 where a ray enters and take it off where it leaves.
// So the lowest byte counts, and where it is one the rest says which.
layout(std430, binding = kDepthWindingsAt) buffer IsotactWindings { int sums[]; } isotact_windings;

int isotact_winding(uint element) { return int(((element + 1u) << 8) | 1u); }
int isotact_count(int sum) { return (sum << 24) >> 24; }
uint isotact_only_element(int sum) { return uint((sum - 1) >> 8) - 1u; }  // where the count is one
