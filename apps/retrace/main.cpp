/// retrace: recorded motion in, its physical control out, and what can be done with it. One command each.
#include "commands.h"

int main(int argc, char** argv) {
  return retrace::apps::Dispatch(argc, argv);
}
