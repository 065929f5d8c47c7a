#include "retrace/io/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace retrace::io {
namespace {

TEST(Base64Test, VectorsOfTheStandard) {
  // RFC 4648, section 10.
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
}

TEST(Base64Test, EveryTextOfBytesReadsBack) {
  EXPECT_TRUE(rc::check([](const std::vector<unsigned char>& values) {
    const std::string bytes(values.begin(), values.end());
    RC_ASSERT(DecodeBase64(EncodeBase64(bytes)) == bytes);
  }));
}

TEST(Base64Test, RefusesWhatIsNone) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zm9=v", "Zm 9v", "Zm9v\n", "Zh==", "Zm9="}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace retrace::io
