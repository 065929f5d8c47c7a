// Compiles where the module `io` is linked, and nowhere else.
#include "retrace/io/number.h"
