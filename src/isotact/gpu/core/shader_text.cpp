#include "isotact/gpu/core/detail/shader_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

std::optional<std::string_view> find_source(std::string_view name) {
  for (const ShaderSource& s : shader_sources())
    if (s.name == name) return s.text;
  return std::nullopt;
}

// One text of many files. Lines are numbered as in their own file, and each file has a number, so
// that messages of the compiler can be traced back.
class Assembly {
 public:
  Assembly(std::string_view name, std::string_view source,
           const std::vector<ShaderDefine>& defines) {
    if (source.starts_with("#version")) {
      text_ = source;
      files_.emplace_back(name);
      return;
    }
    text_ = "#version 450 core\n";
    // Extensions must come before everything else.
    for (const ShaderDefine& d : defines)
      if (d.name == "BINDLESS") text_ += "#extension GL_ARB_bindless_texture : require\n";
    for (const ShaderDefine& d : defines) text_ += fmt::format("#define {} {}\n", d.name, d.value);
    add(name, source);
  }

  const std::string& text() const { return text_; }

  // Compilers write "3:17(5): error" (Mesa), "3(17) : error" (NVIDIA), "ERROR: 3:17:" (others).
  std::string translate(std::string_view log) const {
    std::string out;
    for (std::size_t i = 0; i < log.size();) {
      const bool starts_number =
          is_digit(log[i]) && (i == 0 || (!is_word(log[i - 1]) && log[i - 1] != '.'));
      std::size_t file_end = i;
      while (file_end < log.size() && is_digit(log[file_end])) ++file_end;
      if (!starts_number || file_end + 1 >= log.size() ||
          (log[file_end] != ':' && log[file_end] != '(') || !is_digit(log[file_end + 1])) {
        out += log[i++];
        continue;
      }
      const std::size_t number = to_number(log.substr(i, file_end - i));
      std::size_t line_end = file_end + 1;
      while (line_end < log.size() && is_digit(log[line_end])) ++line_end;
      const std::string_view line = log.substr(file_end + 1, line_end - file_end - 1);
      out += fmt::format("{}:{}", number < files_.size() ? files_[number] : "?", line);
      i = log[file_end] == '(' && line_end < log.size() && log[line_end] == ')' ? line_end + 1
                                                                                : line_end;
    }
    return out;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  static std::size_t to_number(std::string_view digits) {
    std::size_t n = 0;
    for (const char c : digits)
      n = std::min<std::size_t>(n * 10, 1U << 20U) + static_cast<std::size_t>(c - '0');
    return n;
  }

  void add(std::string_view name, std::string_view shared) {
    const std::string source = drop_cpp(shared);
    const std::size_t number = files_.size();
    files_.emplace_back(name);
    text_ += fmt::format("#line 1 {}\n", number);
    int line_number = 0;
    for (std::size_t at = 0; at < source.size();) {
      const std::size_t end = std::min(source.find('\n', at), source.size());
      const std::string_view line = std::string_view(source).substr(at, end - at);
      at = end + 1;
      ++line_number;
      constexpr std::string_view kInclude = "#include \"";
      if (line.substr(0, kInclude.size()) != kInclude) {
        text_.append(line).append("\n");
        continue;
      }
      const std::size_t quote = line.find('"', kInclude.size());
      include(line.substr(kInclude.size(), quote - kInclude.size()), name, line_number);
      text_ += fmt::format("#line {} {}\n", line_number + 1, number);
    }
  }

  // Headers are included by their path, as in C++, and found by their name.
  void include(std::string_view path, std::string_view from, int line) {
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (std::find(files_.begin(), files_.end(), file) != files_.end()) return;
    const std::optional<std::string_view> source = find_source(file);
    if (!source) throw Error(fmt::format("{}:{}: there is no shader file '{}'", from, line, file));
    add(file, *source);
  }

  std::string text_;
  std::vector<std::string> files_;
};

template <typename GetLength, typename GetLog>
std::string read_log(GLuint object, GetLength get_length, GetLog get_log) {
  GLint length = 0;
  get_length(object, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 1)), ' ');
  GLsizei written = 0;
  get_log(object, length, &written, log.data());
  log.resize(static_cast<std::size_t>(written));
  return log;
}

}  // namespace

std::string drop_cpp(std::string_view source) {
  std::string text;
  // For an #ifdef __cplusplus: the current part, and the number of open conditions within it.
  enum class Part { kNone, kCpp, kGlsl } part = Part::kNone;
  int open = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    at = end + 1;
    bool keeps = part != Part::kCpp && line != "#pragma once";
    if (part == Part::kNone) {
      if (line == "#ifdef __cplusplus") {
        part = Part::kCpp;
        keeps = false;
      }
    } else if (line.starts_with("#if")) {
      ++open;
    } else if (open > 0) {
      if (line.starts_with("#endif")) --open;
    } else if (line.starts_with("#else")) {
      part = Part::kGlsl;
    } else if (line.starts_with("#endif")) {
      part = Part::kNone;
      keeps = false;
    }
    if (keeps) text += line;
    text += '\n';
  }
  return text;
}

std::string_view find_shader(std::string_view name) {
  const std::optional<std::string_view> source = find_source(name);
  if (!source) throw Error(fmt::format("there is no shader '{}'", name));
  return *source;
}

std::uint32_t compile_shader(std::uint32_t stage, std::string_view name, std::string_view source,
                             const std::vector<ShaderDefine>& defines) {
  const Assembly assembly(name, source, defines);
  const GLuint shader = glCreateShader(stage);
  const char* text = assembly.text().c_str();
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint ok = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  if (ok != 0) return shader;
  const std::string log = read_log(shader, glGetShaderiv, glGetShaderInfoLog);
  glDeleteShader(shader);
  throw Error(fmt::format("shader {} does not compile:\n{}", name, assembly.translate(log)));
}

std::uint32_t link_shaders(std::span<const std::uint32_t> shaders, std::string_view name) {
  const GLuint program = glCreateProgram();
  for (const std::uint32_t s : shaders) glAttachShader(program, s);
  glLinkProgram(program);
  for (const std::uint32_t s : shaders) glDetachShader(program, s);
  GLint ok = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &ok);
  if (ok != 0) return program;
  const std::string log = read_log(program, glGetProgramiv, glGetProgramInfoLog);
  glDeleteProgram(program);
  throw Error(fmt::format("shader {} does not link:\n{}", name, log));
}

}  // namespace isotact::detail

namespace isotact {

std::string make_shader_text(std::string_view name, std::string_view source,
                             const std::vector<ShaderDefine>& defines) {
  return detail::Assembly(name, source, defines).text();
}

}  // namespace isotact
