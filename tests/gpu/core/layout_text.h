// Reads the structs of shared headers and the blocks of shaders out of their texts, and lays
// structs out by the rules of GLSL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "isotact/gpu/core/detail/shader_text.h"

namespace isotact {

struct LayoutMember {
  std::string type, name;
  std::size_t count = 0;  // of an array; 0: it is none
  bool is_unsized = false;
};

struct LayoutStruct {
  std::string file;
  std::vector<LayoutMember> members;
};

// A uniform or storage block.
struct LayoutBlock {
  std::string file, qualifiers, name;
  std::vector<LayoutMember> members;
  bool is_std140() const { return qualifiers.find("std140") != std::string::npos; }
};

// A type that GLSL has: numbers of it, and bytes of each.
struct LayoutType {
  std::size_t components = 0, bytes = 0;
  bool is_float = false;
};

inline const LayoutType* find_builtin(const std::string& type) {
  static const std::map<std::string, LayoutType> types = {
      {"float", {1, 4, true}}, {"vec2", {2, 4, true}}, {"vec3", {3, 4, true}},
      {"vec4", {4, 4, true}},  {"int", {1, 4}},        {"ivec2", {2, 4}},
      {"ivec3", {3, 4}},       {"ivec4", {4, 4}},      {"uint", {1, 4}},
      {"uvec2", {2, 4}},       {"uvec4", {4, 4}},      {"double", {1, 8, true}}};
  const auto found = types.find(type);
  return found == types.end() ? nullptr : &found->second;
}

// A text without comments and without defaults, as the compiler of shaders sees it.
inline std::string read_shader(const std::string& text) {
  static const std::regex comment("//[^\n]*"), fallback(R"( ISOTACT_DEFAULT\([^)]*\))");
  return std::regex_replace(std::regex_replace(detail::drop_cpp(text), comment, ""), fallback, "");
}

class LayoutText {
 public:
  LayoutText() {
    for (const detail::ShaderSource& s : detail::shader_sources())
      if (s.name.ends_with(".h")) read_constants(read_shader(std::string(s.text)));
    for (const detail::ShaderSource& s : detail::shader_sources()) {
      const std::string text = read_shader(std::string(s.text));
      if (s.name.ends_with(".h"))
        read_structs(std::string(s.name), text);
      else
        for (LayoutBlock& block : read_blocks(std::string(s.name), text))
          blocks_.push_back(std::move(block));
    }
  }

  const std::map<std::string, LayoutStruct>& structs() const { return structs_; }
  const std::vector<LayoutBlock>& blocks() const { return blocks_; }

  std::vector<LayoutBlock> read_blocks(const std::string& file, const std::string& text) const {
    static const std::regex block(
        R"(layout\s*\(([^)]*)\)[^;{()]*\b(?:buffer|uniform)\s+(\w+)\s*\{([^}]*)\})");
    std::vector<LayoutBlock> blocks;
    for (std::sregex_iterator i(text.begin(), text.end(), block), end; i != end; ++i)
      blocks.push_back({file, (*i)[1], (*i)[2], read_members((*i)[3])});
    return blocks;
  }

  struct Extent {
    std::size_t size = 0, align = 1;
  };

  // Bytes as C++ has them: without gaps.
  std::size_t packed_size(const LayoutMember& m) const {
    std::size_t one = 0;
    if (const LayoutType* type = find_builtin(m.type))
      one = type->components * type->bytes;
    else
      for (const LayoutMember& part : structs_.at(m.type).members) one += packed_size(part);
    return one * std::max<std::size_t>(m.count, 1);
  }
  std::size_t packed_size(const std::string& name) const {
    return packed_size(LayoutMember{name, ""});
  }

  // OpenGL 4.5, section 7.6.2.2. `gap`: set to the first member that is not where C++ has it, or to
  // "the end".
  Extent lay_out(const std::string& name, bool is_std140, std::string& gap) const {
    std::size_t at = 0, packed = 0, align = is_std140 ? 16 : 1;
    for (const LayoutMember& m : structs_.at(name).members) {
      const Extent e = extent_of(m, is_std140, gap);
      at = (at + e.align - 1) / e.align * e.align;
      if (at != packed && gap.empty()) gap = name + "::" + m.name;
      at += e.size;
      packed += packed_size(m);
      align = std::max(align, e.align);
    }
    const std::size_t size = (at + align - 1) / align * align;
    if (size != packed && gap.empty()) gap = "the end of " + name;
    return {size, align};
  }

 private:
  static std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts(1);
    for (const char c : text)
      if (c == by)
        parts.emplace_back();
      else
        parts.back() += c;
    return parts;
  }

  std::size_t number_of(const std::string& text) const {
    const auto constant = constants_.find(text);
    return constant != constants_.end() ? constant->second : std::stoul(text, nullptr, 0);
  }

  void read_constants(const std::string& text) {
    static const std::regex line(R"(ISOTACT_CONSTANT (?:u?int)\s([^;]*);)");
    static const std::regex one(R"(\s*(\w+) = (\w+)\s*)");
    for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i)
      for (const std::string& part : split((*i)[1], ',')) {
        std::smatch match;
        if (std::regex_match(part, match, one))
          constants_[match[1]] = std::stoul(match[2], nullptr, 0);
      }
  }

  std::vector<LayoutMember> read_members(const std::string& text) const {
    static const std::regex line(R"(\s*(\w+)\s+([^;]*\S)\s*)");
    static const std::regex name(R"(\s*(\w+)(?:\[(\w*)\])?\s*)");
    std::vector<LayoutMember> members;
    for (const std::string& part : split(text, ';')) {
      std::smatch match, named;
      if (part.find_first_not_of(" \n") == std::string::npos) continue;
      if (!std::regex_match(part, match, line)) throw std::runtime_error("not a member: " + part);
      for (const std::string& of : split(match[2], ',')) {
        if (!std::regex_match(of, named, name)) throw std::runtime_error("not a name: " + of);
        LayoutMember member{match[1], named[1]};
        // The names of shader_types.h.
        if (member.type == "Vec3f") member.type = "vec3";
        if (member.type == "Rows3x4") member.type = "vec4", member.count = 3;
        member.is_unsized = named[2].matched && named[2].length() == 0;
        if (named[2].length() > 0) member.count = number_of(named[2]);
        members.push_back(member);
      }
    }
    return members;
  }

  void read_structs(const std::string& file, const std::string& text) {
    static const std::regex whole(R"(\bstruct (\w+) \{([^}]*)\};)");
    for (std::sregex_iterator i(text.begin(), text.end(), whole), end; i != end; ++i)
      structs_[(*i)[1]] = {file, read_members((*i)[2])};
  }

  Extent extent_of(const LayoutMember& m, bool is_std140, std::string& gap) const {
    Extent one;
    if (const LayoutType* type = find_builtin(m.type)) {
      one.size = type->components * type->bytes;
      one.align = (type->components == 3 ? 4 : type->components) * type->bytes;
    } else {
      one = lay_out(m.type, is_std140, gap);
    }
    if (m.count == 0) return one;
    if (is_std140) one.align = (one.align + 15) / 16 * 16;
    const std::size_t stride = (one.size + one.align - 1) / one.align * one.align;
    if (m.count * stride != packed_size(m) && gap.empty()) gap = "between the parts of " + m.name;
    return {m.count * stride, one.align};
  }

  std::map<std::string, std::size_t> constants_;
  std::map<std::string, LayoutStruct> structs_;
  std::vector<LayoutBlock> blocks_;
};

}  // namespace isotact
