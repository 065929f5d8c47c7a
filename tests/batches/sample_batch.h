/// A list of two short clips, and a third one that is not there.
#pragma once

#include <string>

#include "retrace/batches/evaluation.h"
#include "retrace/io/file.h"
#include "sample_folder.h"

namespace retrace::runs {

struct SampleBatch {
  SampleBatch() {
    options.list = folder / "list.tsv";
    WriteList("walk.bvh\twalk\t0.4\t2\nstand.bvh\tstand\t0.3\t1\nnone.bvh\tnone\t-\t1\n");
    options.clips = std::filesystem::path(RETRACE_SOURCE_DIR) / "data" / "clips";
    options.output = folder / "results";
    options.job.configuration.run.method = Method::kTracking;
    options.job.configuration.run.tail = 0;
    options.threads = 1;
  }
  void WriteList(const std::string& rows) const {
    io::WriteFile(folder / "list.tsv", "clip\tname\tend\tseeds\n" + rows);
  }

  SampleFolder folder;
  EvaluationOptions options;
};

}  // namespace retrace::runs
