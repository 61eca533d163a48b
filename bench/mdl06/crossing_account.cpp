// Two results for one segment are two sequences of times at which the side changes. Merged in
// order, they agree or disagree from one time to the next. A disagreement begins with a crossing of
// one sequence. If the next crossing is the other's, both have changed to the same side: one
// crossing, shifted. If it is the same sequence's, that one crossed over and back, and the other
// did not. Each crossing therefore belongs to exactly one interval of disagreement.
#include <algorithm>
#include <cmath>

#include "mdl06/exact_segment.h"

namespace isotact {
namespace {

enum class Owner : std::uint8_t { kExact, kField, kEnd };

struct Event {
  double time = 0;
  Owner owner = Owner::kEnd;
  std::uint32_t triangle = 0;
};

struct Stretch {
  Event begin{}, end{};
  bool exact_inside = false;
};

class Accountant {
 public:
  Accountant(const BrickField& field, const ExactSegmentTracer& tracer, const Segment& segment,
             CrossingAccount& account)
      : field_(field),
        tracer_(tracer),
        from_(to_double(segment.from)),
        by_(to_double(segment.to) - from_),
        account_(account) {
    // Times are floats, the oracle rounds points to floats, and the tracer rounds positions to
    // floats of cells. Each is rounded to 2^-23 of the largest possible value, and there are at
    // most eight of them.
    const Aabb box = field.bounds();
    const double largest = length(extent(box)) + length(max(box.upper, -box.lower)) +
                           length(from_) + length(from_ + by_);
    slack_ = 0x1p-20 * largest;
  }

  void run(const ExactCrossings& exact, std::span<const SegmentInterval> intervals) {
    ++account_.segments;
    const bool field_starts = !intervals.empty() && intervals.front().enter <= 0;
    bool exact_inside = exact.starts_inside, field_inside = field_starts;
    Stretch stretch{.begin = {0, Owner::kEnd, 0}, .exact_inside = exact_inside};
    for (const Event& event : collect(exact, intervals)) {
      if (exact_inside != field_inside) {
        stretch.end = event;
        enter(stretch);
      }
      (event.owner == Owner::kExact ? exact_inside : field_inside) ^= true;
      stretch = {.begin = event, .exact_inside = exact_inside};
    }
    if (exact_inside != field_inside) {
      stretch.end = {1, Owner::kEnd, 0};
      enter(stretch);
    }
  }

 private:
  std::vector<Event> collect(const ExactCrossings& exact,
                             std::span<const SegmentInterval> intervals) {
    std::vector<Event> events;
    for (const SurfaceCrossing& c : exact.crossings)
      events.push_back({c.time, Owner::kExact, c.triangle});
    account_.exact_crossings += events.size();
    for (const SegmentInterval& i : intervals) {
      if (i.enter > 0) events.push_back({static_cast<double>(i.enter), Owner::kField, 0});
      if (i.exit < 1) events.push_back({static_cast<double>(i.exit), Owner::kField, 0});
    }
    account_.field_crossings += events.size() - exact.crossings.size();
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    return events;
  }

  void enter(const Stretch& s) {
    classify(s);
    check(s);
  }

  void classify(const Stretch& s) {
    const bool has_end = s.begin.owner == Owner::kEnd || s.end.owner == Owner::kEnd;
    const auto is_by = [&](Owner owner) { return s.begin.owner == owner || s.end.owner == owner; };
    if (has_end) {
      ++(is_by(Owner::kExact)   ? account_.exact_cut
         : is_by(Owner::kField) ? account_.field_cut
                                : account_.cut);
    } else if (s.begin.owner != s.end.owner) {
      const double shift = (s.end.time - s.begin.time) * length(by_);
      account_.largest_shift = std::max(account_.largest_shift, shift);
      account_.total_shift += shift;
      ++(shift <= slack_ ? account_.same : account_.shifted);
    } else if (s.begin.owner == Owner::kField) {
      ++account_.field_grazes;
    } else {
      const bool apart = dot(tracer_.normal(s.begin.triangle), tracer_.normal(s.end.triangle)) < 0;
      ++(apart ? account_.lost_features : account_.exact_grazes);
    }
  }

  // At any time of disagreement, the field's value and the distance have different signs, and
  // differ by at most near_error: so neither is further from zero than that.
  void check(const Stretch& s) {
    constexpr int kProbeSteps = 8;
    const double near_error = static_cast<double>(field_.header().near_error);
    const ExactField::Known known{.most_distance = 2 * near_error, .inside = s.exact_inside};
    bool explained = true;
    for (int k = 0; k <= kProbeSteps; ++k) {
      const Vec3 p = from_ + by_ * (s.begin.time + (s.end.time - s.begin.time) * k / kProbeSteps);
      // The side of the point takes longest to find: one test suffices.
      const double d = k == kProbeSteps / 2 ? tracer_.field().value(p)
                                            : tracer_.field().sample(p, known).distance;
      const Interval bounds = field_.distance_bounds(p);
      account_.largest_distance = std::max(account_.largest_distance, std::abs(d));
      explained = explained && std::abs(d) <= near_error + slack_ && bounds.lower - slack_ <= d &&
                  d <= bounds.upper + slack_ &&
                  (std::abs(d) <= slack_ || (d < 0) == s.exact_inside);
    }
    if (!explained) ++account_.unexplained;
  }

  const BrickField& field_;
  const ExactSegmentTracer& tracer_;
  Vec3 from_, by_;
  double slack_ = 0;
  CrossingAccount& account_;
};

}  // namespace

bool CrossingAccount::adds_up() const {
  return exact_crossings == same + shifted + 2 * (exact_grazes + lost_features) + exact_cut &&
         field_crossings == same + shifted + 2 * field_grazes + field_cut;
}

CrossingAccount& CrossingAccount::operator+=(const CrossingAccount& o) {
  segments += o.segments;
  exact_crossings += o.exact_crossings;
  field_crossings += o.field_crossings;
  same += o.same;
  shifted += o.shifted;
  exact_grazes += o.exact_grazes;
  field_grazes += o.field_grazes;
  lost_features += o.lost_features;
  exact_cut += o.exact_cut;
  field_cut += o.field_cut;
  cut += o.cut;
  unexplained += o.unexplained;
  largest_distance = std::max(largest_distance, o.largest_distance);
  largest_shift = std::max(largest_shift, o.largest_shift);
  total_shift += o.total_shift;
  return *this;
}

void account_for_differences(const BrickField& field, const ExactSegmentTracer& tracer,
                             const Segment& segment, const ExactCrossings& exact,
                             std::span<const SegmentInterval> intervals, CrossingAccount& account) {
  Accountant(field, tracer, segment, account).run(exact, intervals);
}

}  // namespace isotact
