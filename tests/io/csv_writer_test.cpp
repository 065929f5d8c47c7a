/// Rows that a reader of RFC 4180 takes apart again.
#include "retrace/io/csv_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace retrace::io {
namespace {

TEST(CsvWriter, SeparatesCellsAndRows) {
  CsvWriter csv;
  csv.Names("root_");
  csv.EndRow();
  csv.Vector({1, -2.5, 0.1});
  csv.EndRow();
  csv.Integer(-7);
  csv.Hex(0x0123456789abcdefull);
  csv.Short(1.0 / 3);
  csv.EndRow();
  EXPECT_EQ(csv.Take(), "root_x,root_y,root_z\n1,-2.5,0.1\n-7,0123456789abcdef,0.3333333\n");
}

TEST(CsvWriter, QuotesWhatWouldBreakACell) {
  CsvWriter csv;
  for (const char* cell : {"plain", "a,b", "say \"no\"", "two\nlines", "two\rlines"}) csv.Text(cell);
  csv.EndRow();
  EXPECT_EQ(csv.Take(), "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\"two\rlines\"\n");
}

/// Spreadsheets evaluate what begins so, in quotation marks or not.
TEST(CsvWriter, NoCellIsAFormula) {
  CsvWriter csv;
  for (const char* cell : {"=1+1", "+x", "-knee_x", "@sum", "\ttab", "'=1+1", "=a,\"b\""}) csv.Text(cell);
  csv.EndRow();
  for (const char* number : {"-1.5", "+2", "-", "-1e-9", "0"}) csv.Text(number);
  csv.EndRow();
  csv.Names("=cmd|' /C calc'!A0_");
  const std::string text = csv.Take();
  EXPECT_EQ(text.substr(0, text.find('\n', text.find('\n') + 1) + 1),
            "\"'=1+1\",\"'+x\",\"'-knee_x\",\"'@sum\",\"'\ttab\",\"''=1+1\",\"'=a,\"\"b\"\"\"\n-1.5,+2,-,-1e-9,0\n");
  EXPECT_NE(text.find("\"'=cmd|' /C calc'!A0_x\","), std::string::npos);
}

/// An empty cell is a cell, also the first of its row.
TEST(CsvWriter, CountsEmptyCells) {
  CsvWriter csv;
  csv.Text("");
  csv.Text("a");
  csv.Text("");
  csv.EndRow();
  csv.Text("");
  csv.Text("");
  csv.EndRow();
  EXPECT_EQ(csv.Take(), ",a,\n,\n");
}

TEST(CsvWriter, LeavesACellEmptyForAMissingNumber) {
  CsvWriter csv;
  csv.NumberOrEmpty(std::numeric_limits<double>::quiet_NaN());
  csv.NumberOrEmpty(1.5);
  csv.NumberOrEmpty(std::numeric_limits<double>::infinity());
  csv.EndRow();
  EXPECT_EQ(csv.Take(), ",1.5," + io::Number(std::numeric_limits<double>::infinity()) + "\n");
}

}  // namespace
}  // namespace retrace::io
