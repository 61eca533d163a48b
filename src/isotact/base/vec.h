// Three-vectors: plain aggregates without an alignment of their own, so their layout is the same
// under every compiler flag. Lengths are in metres unless a name says otherwise.
#pragma once

#include <cmath>
#include <cstddef>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

template <typename T>
struct Vector3 {
  T x{}, y{}, z{};

  constexpr T& operator[](std::size_t axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  constexpr const T& operator[](std::size_t axis) const {
    return axis == 0 ? x : axis == 1 ? y : z;
  }
  constexpr Vector3& operator+=(const Vector3& b) { return *this = *this + b; }
  constexpr Vector3& operator-=(const Vector3& b) { return *this = *this - b; }
  constexpr Vector3& operator*=(T s) { return *this = *this * s; }

  friend constexpr Vector3 operator+(const Vector3& a, const Vector3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend constexpr Vector3 operator-(const Vector3& a, const Vector3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend constexpr Vector3 operator-(const Vector3& a) { return {-a.x, -a.y, -a.z}; }
  friend constexpr Vector3 operator*(const Vector3& a, T s) { return {a.x * s, a.y * s, a.z * s}; }
  friend constexpr Vector3 operator*(T s, const Vector3& a) { return a * s; }
  friend constexpr Vector3 operator/(const Vector3& a, T s) { return {a.x / s, a.y / s, a.z / s}; }
  friend constexpr bool operator==(const Vector3&, const Vector3&) = default;
};

using Vec3 = Vector3<double>;  // Poses, masses, anything accumulated.
using Vec3f = Vector3<float>;  // Mesh positions, fields.

constexpr Vec3 to_double(const Vec3f& a) { return {a.x, a.y, a.z}; }
constexpr Vec3f to_float(const Vec3& a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)};
}

template <typename T>
constexpr T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <typename T>
constexpr Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <typename T>
constexpr T length_sq(const Vector3<T>& a) {
  return dot(a, a);
}

template <typename T>
T length(const Vector3<T>& a) {
  return std::sqrt(dot(a, a));
}

// Returns the unit vector along a, or zero if a is too short to have a direction.
template <typename T>
Vector3<T> normalized(const Vector3<T>& a) {
  const T l = length(a);
  return l > T{0} ? a / l : Vector3<T>{};
}

// Each coordinate as std::min and std::max have it, without their header.
template <typename T>
constexpr Vector3<T> min(const Vector3<T>& a, const Vector3<T>& b) {
  return {b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z};
}

template <typename T>
constexpr Vector3<T> max(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x < b.x ? b.x : a.x, a.y < b.y ? b.y : a.y, a.z < b.z ? b.z : a.z};
}

template <typename T>
constexpr Vector3<T> lerp(const Vector3<T>& a, const Vector3<T>& b, T t) {
  return a + (b - a) * t;
}

template <typename T>
bool is_finite(const Vector3<T>& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

}  // namespace isotact
