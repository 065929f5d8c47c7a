#include "retrace/jobs/control_files.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "retrace/control/control_file.h"
#include "retrace/io/file.h"
#include "retrace/planning/viability/replayed_control.h"

namespace retrace::runs {

io::Json WriteControlAndMotion(results::RunFolder& folder, const Job& job, const WrittenControl& written,
                               KeptFiles kept) {
  const control::OpenLoopControl& control = written.control;
  control::WriteControl(job.character(), control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  io::Json members = io::Json::object();
  if (kept != KeptFiles::kControl) {
    const std::string title = job.options.clip.file.stem().string();
    const std::optional<character::ReferenceMotion> unrepaired = job.prepared->Unrepaired();
    if (unrepaired) {
      folder.Write(results::kRepairFile,
                   repair::FormatRepair(*job.prepared->repaired, job.prepared->recorded.frame_time()));
    }
    MotionWriter writer(folder, "",
                        {job.character(), control.world, &job.reference(), title, written.num_steps,
                         unrepaired ? &*unrepaired : nullptr});
    ReplayInParts(*job.prepared, control, written.pushes, [&](const control::Trajectory& part) { writer.Add(part); });
    writer.Finish();
  } else {
    std::map<std::string, io::Sha256Sum> sums;
    ReplayInParts(*job.prepared, control, written.pushes, [&](const control::Trajectory& part) {
      for (const NamedTable& table : StateTables(job.character(), part)) sums[table.name].Add(table.text);
    });
    for (auto& [name, sum] : sums) members["tables_sha256"][name] = sum.Finish();
  }
  return members;
}

}  // namespace retrace::runs
