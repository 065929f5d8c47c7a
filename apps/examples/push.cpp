/// Pushes the character of a run harder and harder, until it no longer follows the recording.
///
/// usage: push results/walk
#include <retrace/retrace.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 2) throw retrace::UsageError("usage: push RUN");
  const retrace::runs::StoredRun run(argv[1]);
  for (double force = 50; force <= 3200; force *= 2) {
    retrace::control::Push push;
    push.body = run.scene.characters[0].root;
    push.force = {force, 0, 0};  // to the left in world axes [N]
    push.start = 0.3;            // [s]
    push.duration = 0.1;         // [s]
    const retrace::runs::Replayed replayed = retrace::runs::Replay(run, {push});
    std::printf("%5.0f N: %s\n", force, replayed.success() ? "goes on" : "does not go on as recorded");
    if (!replayed.success()) return 0;
  }
  return 4;  // a push of three times the weight must be felt
} catch (const std::exception& error) {
  std::fprintf(stderr, "push: %s\n", error.what());
  return 1;
}
