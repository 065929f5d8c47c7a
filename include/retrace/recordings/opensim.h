/// Motions of OpenSim: coordinates over time (.mot, .sto) of a model (.osim).
#pragma once

#include <string>
#include <string_view>

#include "retrace/motion/clip.h"
#include "retrace/recordings/markers.h"

namespace retrace::recordings {

/// The motion of a model's bodies, each a joint with its name, where its joint with the body before it is; at rest all
/// coordinates are 0. Models of OpenSim 3 and 4; joints: Custom, Pin, Slider, Ball, Gimbal, Universal, Planar, Free,
/// Weld, Ellipsoid, ConstantCurvature and Scapulothoracic; functions of one coordinate: linear, polynomial, constant,
/// sine, step, piecewise constant and linear, splines (of SIMM, or natural cubic ones) and multiples of these. Coupled
/// coordinates follow the one that they are coupled to. Others that the motion has no column for, `hip_flexion_r` or
/// `/jointset/hip_r/hip_flexion_r/value`, keep their default, and
/// are doubted unless they are locked or follow others; columns that are no coordinates are left out. Angles are
/// degrees where the header says `inDegrees=yes` (or y, in any case), and else radians, as OpenSim takes them. `nRows`
/// and `nColumns` must be right where they are stated. Rows are made even in time at their mean rate.
///
/// A model without a head, arms, a torso, one leg or both gets them: they go with what is beside them, and a leg of one
/// that has only the other one is bent and does not stand. Masses are those that the model states; a model without a
/// trunk's or the legs' mass states none. The time of the first row is the clip's start_time. Meters, x forward, y up,
/// z to the right, as there. Throws InputError with line and column, or with the joint.
motion::Clip ParseOpenSim(std::string_view model, const std::string& model_name, std::string_view motion,
                          const std::string& name);

/// The motion of a model whose markers were recorded: inverse kinematics, frame by frame. The coordinates that are not
/// locked or coupled are those at which the model's markers are nearest to the recorded ones of the same names (case
/// aside), by the sum of squares of their distances; a coordinate that no marker shows stays as it was. How far markers
/// are from the model's is noted, and doubted where the model is not of the person's size. Throws InputError where
/// model and recording have fewer than six markers in common.
motion::Clip ParseOpenSimMarkers(std::string_view model, const std::string& model_name, const Markers& markers,
                                 const std::string& name);

}  // namespace retrace::recordings
