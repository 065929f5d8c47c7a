/// The word that was meant by a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace retrace::io {

/// The number of letters to insert, remove, replace or exchange with their neighbor that makes one word of the other
/// (Damerau-Levenshtein, where no letter is edited twice). Capitals and small letters are the same letter, and so are
/// `-` and `_`.
size_t WordDistance(std::string_view a, std::string_view b);

/// The candidates that may have been meant by a word, at most three, in their order: those at the smallest distance,
/// unless more than a third of the word would have to change; where there are none, those that begin with the word.
std::vector<std::string> NearestWords(std::string_view word, const std::vector<std::string>& candidates);

/// The same as the part of a message, `did you mean "a" or "b"?`; empty where nothing is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace retrace::io
