// Marks what the shared library shows to its users: everything that installed headers declare. They
// open their namespace like this:
//
//   namespace ISOTACT_PUBLIC isotact {
//
// Sources and private headers do not, and the library is compiled with hidden visibility.
#pragma once

#define ISOTACT_PUBLIC [[gnu::visibility("default")]]
