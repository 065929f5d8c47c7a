#include "marker_names.h"

#include <algorithm>

namespace retrace::recordings {

const std::vector<MarkerNames>& SkinMarkers() {
  // Plug-in Gait and CGM2 (Vicon), CMU, OpenSim's Gait2392 and its relatives, OpenCap, the sets of Qualisys (CAST, IOR,
  // Sports, Animation), of OptiTrack's biomechanics, Visual3D, BTS, Hamner and Delp 2013.
  static const std::vector<MarkerNames> names = {
      {"*ASI", {"*ASI", "*ASIS", "*FWT", "ASIS*", "*IAS", "WAIST*FRONT"}},
      {"*PSI", {"*PSI", "*PSIS", "*BWT", "PSIS*", "*IPS", "WAIST*BACK"}},
      {"SACR", {"SACR", "SACRUM", "VSACRAL", "VSACRUM", "VSAC", "S2", "WAISTBACK"}},
      {"*KNE",
       {"*KNE", "*KNEELAT", "*KNEE", "*LEPI", "*LK", "*FLE", "*KNEEOUT", "*LKNEE", "*KNEE1", "*LFC", "*LATKNEE"}},
      {"*KNM", {"*KNM", "*KNEEMED", "*MKNE", "*MKNEE", "*KNI", "*MEPI", "*MK", "*FME", "*KNEEIN", "*MFC", "*MEDKNEE"}},
      {"*ANK",
       {"*ANK", "*ANKLELAT", "*ANKLE", "*LMAL", "*LM", "*FAL", "*ANKLEOUT", "*LANKLE", "*LA", "*MALL", "*LATANK"}},
      {"*ANM", {"*ANM", "*ANKLEMED", "*MANK", "*MEDANK", "*MMAL", "*MM", "*TAM", "*ANKLEIN", "*MANKLE", "*MA", "*MED"}},
      {"*TOE",
       {"*TOE", "*TOETIP", "*MT2", "*BIGTOE", "*MT1", "*P1MT", "*FM2", "*SMH", "*FOREFOOT2", "*MET", "*FMH", "*FM1"}},
      {"*HEE", {"*HEE", "*HEEL", "*HEL", "*CALC", "*CAL", "*FCC", "*HEELBACK"}},
      {"*SHO",
       {"*SHO", "*SHOULDER", "*ACROMIUM", "*ACROMION", "*ACR", "*SH", "*FSH", "*SAE", "*CAJ", "*SHOULDERTOP",
        "*SHOULD"}},
      {"*ELB", {"*ELB", "*ELBOWLAT", "*ELBOW", "*LELBOW", "*LEL", "*HLE", "*ELBOWOUT", "*LELB"}},
      {"*SHB", {"*BSH"}},
      {"*ELM", {"*ELBM", "*ELBOWMED", "*MELB", "*IEL", "*MELBOW", "*MEL", "*HME", "*ELBOWIN"}},
      {"*WRA",
       {"*WRA", "*WRISTLAT", "*WRISTRADIUS", "*WRISTRAD", "*WRIST", "*WRTHUMB", "*IWR", "*WR", "*LWRIST", "*FARADIUS",
        "*RSP", "*WRISTOUT"}},
      {"*WRB",
       {"*WRB", "*WRISTMED", "*WRISTULNA", "*WRISTULN", "*WRPINKY", "*OWR", "*MWRIST", "*FAULNA", "*USP", "*WRISTIN"}},
      {"*FIN", {"*FIN", "*HAND", "*OHAND", "*HM2", "*HANDOUT"}},
      {"*FHD", {"*FHD", "*TEMPLE"}},
      {"*BHD", {"*BHD"}},
      {"TOPH", {"TOPHEAD", "ARIEL", "HEAD", "HDTOP", "HEADTOP"}},
      {"C7", {"C7", "CV7", "SPINETOP"}},
      {"CLAV", {"CLAV", "SJN", "STERNUM", "CHEST", "STRN", "SXS"}},
  };
  return names;
}

const std::vector<MarkerNames>& CenterMarkers() {
  static const std::vector<MarkerNames> names = {
      {"*HJC", {"*HJC", "*HIP", "*HIPJC", "#HIP"}},
      {"*KNE", {"*KJC", "*KNEE", "#KNEE"}},
      {"*ANK", {"*AJC", "*ANKLE", "#ANKLE"}},
      {"*TOE", {"*BIGTOE", "*TOE", "*FOOTEND", "#FOOTEND", "#TOEEND"}},
      {"*HEE", {"*HEEL"}},
      {"*SHO", {"*SJC", "*SHOULDER", "#SHOULDER"}},
      {"*ELB", {"*EJC", "*ELBOW", "#ELBOW"}},
      {"*WRA", {"*WJC", "*WRIST", "#WRIST"}},
      {"*FIN", {"*HANDEND", "#HANDEND"}},
      {"TOPH", {"HEADEND", "HEAD", "NOSE"}},
  };
  return names;
}

bool IsInGroup(std::string_view plain, MarkerGroup group, size_t side) {
  // Where a number, or UPPER, FRONT and their like, may follow; then whole names.
  struct Names {
    std::vector<std::string_view> stems, whole;
  };
  static const Names thigh = {{"TH", "THI", "THIGH"}, {"THAP", "THAD", "FTC", "GTR"}};
  static const Names shank = {{"TB", "TIB", "SH", "SHN", "SK", "SHANK", "SHIN"}, {"TIAP", "TIAD", "TTC", "FAX"}};
  static const Names foot = {
      {}, {"TOE", "TOETIP", "TOELAT", "TOEMED", "BIGTOE", "SMALLTOE", "HEE", "HEEL", "HEL", "CAL", "CALC", "FCC", "MT1",
           "MT2", "MT5",    "5META",  "1META",  "FM1",    "FM2",      "FM5", "FMH",  "SMH", "VMH", "5MT",  "1MT"}};
  if (plain.empty() || plain.front() != (side == 0 ? 'L' : 'R')) return false;
  plain.remove_prefix(1);
  const Names& names = group == MarkerGroup::kThigh ? thigh : group == MarkerGroup::kShank ? shank : foot;
  if (std::find(names.whole.begin(), names.whole.end(), plain) != names.whole.end()) return true;
  return std::any_of(names.stems.begin(), names.stems.end(), [&](std::string_view stem) {
    if (!plain.starts_with(stem)) return false;
    const std::string_view rest = plain.substr(stem.size());
    static const std::vector<std::string_view> ends = {"UPPER", "LOWER", "FRONT", "REAR", "LAT", "MED", "ANTSUP", ""};
    if (std::find(ends.begin(), ends.end(), rest) != ends.end()) return stem.size() > 2;
    return !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

std::string PlainMarker(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c >= 'a' && c <= 'z') {
      plain += static_cast<char>(c - 32);
    } else if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      plain += c;
    }
  }
  return plain;
}

std::string OnSide(std::string name, size_t side) {
  if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, side == 0 ? "L" : "R");
  if (const size_t hash = name.find('#'); hash != std::string::npos) {
    name.replace(hash, 1, side == 0 ? "LEFT" : "RIGHT");
  }
  return name;
}

}  // namespace retrace::recordings
