#include "retrace/io/nearest_words.h"

#include <algorithm>

#include "retrace/io/describe.h"

namespace retrace::io {
namespace {

constexpr size_t kMostWords = 3;
constexpr size_t kShortestBeginning = 3;

std::string Folded(std::string_view word) {
  std::string folded(word);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return folded;
}

}  // namespace

size_t WordDistance(std::string_view first, std::string_view second) {
  const std::string a = Folded(first);
  const std::string b = Folded(second);
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string> NearestWords(std::string_view word, const std::vector<std::string>& candidates) {
  size_t smallest = std::max<size_t>(1, word.size() / 3);
  std::vector<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = WordDistance(word, candidate);
    // One letter is like any other.
    if (distance > smallest || distance >= std::max(word.size(), candidate.size())) continue;
    if (distance < smallest) nearest.clear();
    smallest = distance;
    nearest.push_back(candidate);
  }
  if (nearest.empty() && word.size() >= kShortestBeginning) {
    for (const std::string& candidate : candidates) {
      if (Folded(candidate).starts_with(Folded(word))) nearest.push_back(candidate);
    }
  }
  if (nearest.size() > kMostWords) nearest.resize(kMostWords);
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> nearest = NearestWords(word, candidates);
  return nearest.empty() ? "" : "did you mean " + QuotedList(nearest) + "?";
}

}  // namespace retrace::io
