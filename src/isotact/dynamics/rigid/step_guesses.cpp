// The impulses that a step tries (detail/step_forces.h).
#include <algorithm>
#include <cmath>

#include "isotact/dynamics/rigid/detail/step_forces.h"

namespace isotact {

using detail::ContactPush;
using detail::PairState;
using detail::WorldBody;

namespace {

constexpr double kUnsolved = 0.1;  // a residual

}  // namespace

// With b = C h / m and s = K h^2 / m, half of b is the logarithmic decay of a step. Dampers at the
// mean velocity of a step take no more than (1 + s / 4) b / 2 can: larger by that and by the
// hyperbolic tangent, they let an oscillation decay as it does in truth, at any step.
double detail::adapt_to_step(ForceSettings& forces, double touching, double mass, double step) {
  ContactMaterial& m = forces.material;
  const double b = m.damping * touching * step / mass;
  const double s = m.stiffness * touching * step * step / mass;
  forces.drag_share = 0.5;
  // Impulses are the derivative of a potential only if every point has its own samples and one
  // area.
  forces.points = PointRule::kEvery;
  forces.areas = AreaRule::kWhole;
  forces.true_slope = forces.direction == ForceDirection::kField;
  forces.refine_crossings = forces.quadrature == Quadrature::kAdaptive;
  if (!(b > 0)) return 0.5;
  const double decay = std::tanh(b / 2), factor = (1 + s / 4) * decay / (b / 2);
  m.damping *= factor;
  m.stick_damping *= factor;
  forces.drag_share = 0.5 + 0.5 * decay;
  // What comes and goes within a step keeps this part of its speed.
  const double ratio = s > 0 ? b / (2 * std::sqrt(s)) : 1;
  const double kept =
      ratio < 1 ? std::exp(-3.141592653589793 * ratio / std::sqrt(1 - ratio * ratio)) : 0.0;
  return 0.5 + (1 / (1 + kept) - 0.5) * decay;
}

ContactPush World::State::StepForces::scaled(ContactPush p, double share) {
  p.push = p.push * share;
  p.response = p.response * share;
  p.slide = p.slide * share;
  p.normal *= share;
  p.found_normal *= share;
  p.normal_response = p.normal_response * share;
  p.share = share;
  p.work_share = 1;
  return p;
}

ContactPush World::State::StepForces::next_guess(PairState& p) const {
  if (p.own.held) return scaled(p.own.prediction, share_of(p));
  if (p.points == 0) {
    shorten_guess(p);
    return scaled(p.own.guess, share_of(p));
  }
  const ContactResponse& r = p.own.response;
  const Twist slip = slip_at(p, p.push.place);
  ContactPush push = p.push;
  push.taken = p.own.prediction.taken;
  push.most = p.own.prediction.most;
  push.push += r.path * slip;
  push.push += r.slide * slip;
  push.response = r.path;
  push.slide = r.slide;
  push.found_normal = r.normal;
  push.normal_response = r.normal_path;
  push.normal = r.normal + dot(r.normal_path, slip);
  p.own.guess = push;
  p.own.guess_slip = slip;
  p.own.guessed = true;
  return scaled(push, share_of(p));
}

void World::State::StepForces::shorten_guess(PairState& p) const {
  ContactPush& g = p.own.guess;
  const Twist& slip = p.own.guess_slip;
  const double found = g.normal - dot(g.normal_response, slip);
  const double change = dot(g.normal_response, slip_at(p, g.place) - slip);
  const double share = change > found ? std::max(found / change, 0.0) : 1.0;
  const Wrench answer = g.response * slip, slides = g.slide * slip;
  g.push += answer * (share - 1);
  g.push += slides * (share - 1);
  g.normal = found + share * (g.normal - found);
  g.response = g.response * share;
  g.slide = g.slide * share;
  g.normal_response = g.normal_response * share;
}

void World::State::StepForces::make_prediction(PairState& p, const Twist& slip, double drag_share) {
  const ContactResponse& r = p.own.response;
  ContactPush& push = p.push;
  push.response = r.spring * 0.5;
  push.response += r.damper;
  push.push += r.trend;
  push.push += push.response * slip;
  push.push += r.slide * slip;
  push.push += r.stick * slip * (drag_share - 1);
  push.response += r.stick * drag_share;
  push.slide = r.slide;
  push.found_normal = r.normal;
  push.normal_response = r.normal_spring * 0.5;
  push.normal_response += r.normal_damper;
  push.normal = r.normal + r.normal_trend + dot(push.normal_response, slip);
}

void World::State::StepForces::make_prediction(PairState& p) const {
  if (p.points == 0) return;
  if (p.own.residual > kUnsolved) {
    // It is not the impulse of this step, which is the better guess.
    const double found = length(p.push.push.linear), given = length(p.own.given.linear);
    const double share = found > given ? given / found : 1.0;
    p.own.response = p.own.response * share;
    p.push.push = p.push.push * share;
  }
  const WorldBody &a = s_.bodies[p.pair.a], &b = s_.bodies[p.pair.b];
  const auto twist = [&](const WorldBody& w) {
    return isotact::moved(Twist{w.step.velocity, w.step.angular_velocity},
                          p.push.place - w.step.center_to);
  };
  make_prediction(p, twist(a) - twist(b), 0.5);
  // The contact goes on with the body that it is written about.
  p.push.place += velocity((a.is_dynamic() ? a : b).body) * h_;
}

}  // namespace isotact
