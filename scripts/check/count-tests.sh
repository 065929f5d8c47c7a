# Sourced by scripts/test and .ci/run: running tests with ctest and counting them.
# shellcheck shell=bash

passed=0 failed=0 skipped=0

# count_report FILE: prints how many test cases of a JUnit report passed, failed and were skipped. The totals in its
# first element would not do: there ctest counts a test that cannot be started as skipped.
count_report() {
  awk '
    /^\t<testcase / {
      if (/ status="run">/) ++passed
      else if (/ status="disabled">/) ++skipped
      else ++failed
    }
    /^\t\t<skipped message="SKIP_/ { --failed; ++skipped }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# run_tests PRESET [options of ctest]: runs tests and adds them to the counts.
run_tests() {
  local preset=$1 report status=0 p f s
  shift
  report=$(mktemp)
  # One more than there are processors: many tests wait for processes of their own.
  ctest --preset "$preset" --parallel "$(($(nproc) + 1))" --no-tests=ignore --output-junit "$report" "$@" || status=$?
  read -r p f s < <(count_report "$report")
  rm -f "$report"
  if ((status != 0 && f == 0)); then f=1; fi # ctest itself failed
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

print_counts() { echo "$passed passed, $failed failed, $skipped skipped"; }
