#include "retrace/report/force_page.h"

#include <string_view>

#include "retrace/io/xml.h"

namespace retrace::report {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light; font-family: system-ui, sans-serif; line-height: 1.45; color: #1a1a1a; background: #fff; }
main { max-width: 1000px; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
.verdict { font-size: 1.1rem; padding: 0.7rem 1rem; border-left: 6px solid #2a7d46; background: #eef6f0; }
.verdict.doubtful { border-color: #b3541e; background: #fbf1ea; }
.warnings { color: #8a3c10; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.8rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 0.5rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
@media print { section { break-inside: avoid; } main { padding: 0; } }
)";

std::string Element(std::string_view tag, const std::string& text) {
  return std::string("<").append(tag).append(">") + io::EscapeXml(text) +
         std::string("</").append(tag.substr(0, tag.find(' '))).append(">\n");
}

std::string List(const std::string& kind, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = "<ul class=\"" + kind + "\">\n";
  for (const std::string& line : lines) html += Element("li", line);
  return html + "</ul>\n";
}

std::string Rows(const ForcePageTable& table) {
  if (table.columns.empty()) return "";
  std::string html = "<table>\n<thead><tr>";
  for (const std::string& column : table.columns) html += Element("th scope=\"col\"", column);
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (size_t c = 0; c < row.size(); ++c) html += Element(c == 0 ? "th scope=\"row\"" : "td", row[c]);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

/// A picture as a part of the page, without what stands before an SVG file's first element.
std::string FigureOf(const std::string& svg) {
  const size_t begin = svg.find("<svg");
  return begin == std::string::npos ? "" : "<figure>\n" + svg.substr(begin) + "</figure>\n";
}

}  // namespace

std::string FormatForcePage(const ForcePage& page) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += Element("title", "Forces of " + page.title);
  html.append("<style>").append(kStyle).append("</style>\n</head>\n<body>\n<main>\n");
  html += Element("h1", "Forces of " + page.title);
  html += Element(page.warnings.empty() ? "p class=\"verdict\"" : "p class=\"verdict doubtful\"", page.verdict);
  html += List("warnings", page.warnings);
  for (const ForcePageSection& section : page.sections) {
    html += "<section>\n" + Element("h2", section.title);
    if (!section.text.empty()) html += Element("p", section.text);
    html += Rows(section.table) + FigureOf(section.picture) + "</section>\n";
  }
  if (!page.notes.empty()) html += "<section>\n" + Element("h2", "Notes") + List("notes", page.notes) + "</section>\n";
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace retrace::report
