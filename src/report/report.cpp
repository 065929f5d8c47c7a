#include "retrace/report/report.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "retrace/io/base64.h"
#include "retrace/io/error.h"
#include "retrace/io/xml.h"
#include "retrace/results/provenance.h"

namespace retrace::report {

io::Json DescribeEvaluation(const std::string& name, const std::vector<results::RunRow>& rows,
                            const std::function<std::string(const results::RunRow&)>& link_of) {
  io::Json json;
  json["kind"] = "evaluation";
  json["name"] = name;
  json["figures"] = io::Json::array();
  for (const results::Figure& figure : results::kFigures) json["figures"].push_back(figure.name);
  json["summaries"] = io::Json::array();
  for (const results::RunSummary& summary : results::Summarize(rows)) {
    const auto count = [](const results::SuccessCount& c) {
      return io::Json{{"k", c.k}, {"n", c.n}, {"bound", c.n > 0 ? io::Json(c.bound()) : io::Json()}};
    };
    io::Json entry = {{"scope", summary.scope == results::RunSummary::Scope::kClip    ? "clip"
                                : summary.scope == results::RunSummary::Scope::kGroup ? "group"
                                                                                      : "total"},
                      {"name", summary.name},
                      {"group", summary.group},
                      {"skipped", summary.skipped},
                      {"failed", summary.failed},
                      {"loose", count(summary.loose)},
                      {"main", count(summary.main)},
                      {"strict", count(summary.strict)},
                      {"world", count(summary.world)},
                      {"viable", count(summary.viable)}};
    entry["quartiles"] = io::Json::array();
    for (const metrics::Quartiles& q : summary.successful) {
      entry["quartiles"].push_back(std::isnan(q.median) ? io::Json() : io::Json{q.first, q.median, q.third});
    }
    json["summaries"].push_back(entry);
  }
  json["runs"] = io::Json::array();
  for (const results::RunRow& row : rows) {
    json["runs"].push_back(row.ToJson());
    const std::string link = link_of ? link_of(row) : "";
    if (!link.empty()) json["runs"].back()["link"] = link;
  }
  return json;
}

io::Json ReportDocument(const std::string& title, std::vector<io::Json> parts) {
  return {{"format", "retrace-report"},
          {"version", 1},
          {"title", title},
          {"toolkit", results::Version()},
          {"parts", std::move(parts)}};
}

bool IsReportPage(std::string_view bytes) {
  return bytes.substr(0, 1000).find("<meta name=\"generator\" content=\"Retrace\">") != std::string_view::npos;
}

void FillReportPage(std::string_view page, const std::string& name, const io::Json& document,
                    const std::function<void(std::string_view piece)>& write) {
  constexpr std::string_view kPlace = "{\"retrace\":\"document\"}";
  constexpr std::string_view kTitle = "<title></title>";
  const size_t place = page.find(kPlace);
  const size_t title = page.find(kTitle);
  if (place == std::string_view::npos || title == std::string_view::npos || title > place) {
    throw InputError(name, "a page without a place for a document", "the page that the build made");
  }
  write(page.substr(0, title));
  write("<title>" + io::EscapeXml(document["title"].get<std::string>()) + "</title>");
  write(page.substr(title + kTitle.size(), place - title - kTitle.size()));
  // A script ends at "</script", whatever the quotation marks around it: no "<" is left in the text. It occurs in
  // strings alone, where its escape means the same.
  io::DumpInPieces(document, [&](std::string_view piece) {
    for (size_t next = piece.find('<'); next != std::string_view::npos; next = piece.find('<')) {
      write(piece.substr(0, next));
      write("\\u003c");
      piece.remove_prefix(next + 1);
    }
    write(piece);
  });
  write(page.substr(place + kPlace.size()));
}

std::vector<float> UnpackFloats(const io::JsonView& packed) {
  if (packed["type"].String() != "f32") packed["type"].Expect("f32");
  const std::optional<std::string> bytes = io::DecodeBase64(packed["data"].String());
  if (!bytes || bytes->size() % sizeof(float) != 0) packed["data"].Fail("no array", "base64 of 32-bit floats");
  std::vector<float> values(bytes->size() / sizeof(float));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

}  // namespace retrace::report
