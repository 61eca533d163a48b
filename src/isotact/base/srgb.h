// Colours of screens as light.
#pragma once

namespace isotact {

// Linear light of an sRGB value in [0, 1] (IEC 61966-2-1). The same bits on every machine.
double decode_srgb(double encoded);

}  // namespace isotact
