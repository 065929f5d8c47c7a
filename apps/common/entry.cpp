/// The entry of every program: RETRACE_PROGRAM, a namespace, is that of its own main.cpp.
namespace retrace::RETRACE_PROGRAM {
int Main(int argc, char** argv);
}

int main(int argc, char** argv) {
  return retrace::RETRACE_PROGRAM::Main(argc, argv);
}
