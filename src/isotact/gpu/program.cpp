#include "isotact/gpu/program.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/detail/shader_sources.h"

namespace isotact {
namespace {

std::optional<std::string_view> find_source(std::string_view name) {
  for (const detail::ShaderSource& s : detail::shader_sources())
    if (s.name == name) return s.text;
  return std::nullopt;
}

// One text of many files. Lines are numbered as in their own file, and each file has a number, so
// that complaints of the compiler can be led back.
class Assembly {
 public:
  Assembly(std::string_view name, std::string_view source,
           const std::vector<ShaderDefine>& defines) {
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

  void add(std::string_view name, std::string_view source) {
    const std::size_t number = files_.size();
    files_.emplace_back(name);
    text_ += fmt::format("#line 1 {}\n", number);
    int line_number = 0;
    for (std::size_t at = 0; at < source.size();) {
      const std::size_t end = std::min(source.find('\n', at), source.size());
      const std::string_view line = source.substr(at, end - at);
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

  void include(std::string_view file, std::string_view from, int line) {
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

GpuProgram::GpuProgram(std::string_view name, const std::vector<ShaderDefine>& defines) {
  const std::optional<std::string_view> source = find_source(name);
  if (!source) throw Error(fmt::format("there is no shader '{}'", name));
  *this = from_source(name, *source, defines);
}

GpuProgram GpuProgram::from_source(std::string_view name, std::string_view source,
                                   const std::vector<ShaderDefine>& defines) {
  const Assembly assembly(name, source, defines);
  const GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
  const char* text = assembly.text().c_str();
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint ok = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  if (ok == 0) {
    const std::string log = read_log(shader, glGetShaderiv, glGetShaderInfoLog);
    glDeleteShader(shader);
    throw Error(fmt::format("shader {} does not compile:\n{}", name, assembly.translate(log)));
  }
  GpuProgram program;
  program.name_ = glCreateProgram();
  glAttachShader(program.name_, shader);
  glLinkProgram(program.name_);
  glDetachShader(program.name_, shader);
  glDeleteShader(shader);
  glGetProgramiv(program.name_, GL_LINK_STATUS, &ok);
  if (ok == 0)
    throw Error(fmt::format(
        "shader {} does not link:\n{}", name,
        assembly.translate(read_log(program.name_, glGetProgramiv, glGetProgramInfoLog))));
  return program;
}

GpuProgram::GpuProgram(GpuProgram&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
GpuProgram& GpuProgram::operator=(GpuProgram&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}
GpuProgram::~GpuProgram() {
  if (name_ != 0) glDeleteProgram(name_);
}

void GpuProgram::set(const char* uniform, float value) const {
  glProgramUniform1f(name_, glGetUniformLocation(name_, uniform), value);
}
void GpuProgram::set(const char* uniform, std::int32_t value) const {
  glProgramUniform1i(name_, glGetUniformLocation(name_, uniform), value);
}
void GpuProgram::set(const char* uniform, std::uint32_t value) const {
  glProgramUniform1ui(name_, glGetUniformLocation(name_, uniform), value);
}
void GpuProgram::set(const char* uniform, float x, float y, float z) const {
  glProgramUniform3f(name_, glGetUniformLocation(name_, uniform), x, y, z);
}
void GpuProgram::set(const char* uniform, std::int32_t x, std::int32_t y, std::int32_t z) const {
  glProgramUniform3i(name_, glGetUniformLocation(name_, uniform), x, y, z);
}

void GpuProgram::dispatch(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
  if (x == 0 || y == 0 || z == 0) return;
  glUseProgram(name_);
  glDispatchCompute(x, y, z);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT |
                  GL_TEXTURE_FETCH_BARRIER_BIT | GL_COMMAND_BARRIER_BIT |
                  GL_BUFFER_UPDATE_BARRIER_BIT);
}

void GpuProgram::dispatch_indirect(const GpuBuffer& groups, std::size_t offset) const {
  glUseProgram(name_);
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, groups.name());
  glDispatchComputeIndirect(static_cast<GLintptr>(offset));
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT |
                  GL_TEXTURE_FETCH_BARRIER_BIT | GL_COMMAND_BARRIER_BIT |
                  GL_BUFFER_UPDATE_BARRIER_BIT);
}

GroupGrid spread_groups(std::uint64_t count) {
  constexpr std::uint64_t kMost = 65535;
  if (count > kMost * kMost)
    throw Error(fmt::format("{} work-groups are more than a GPU takes at once", count));
  if (count <= kMost) return {static_cast<std::uint32_t>(count), count == 0 ? 0U : 1U};
  const std::uint64_t y = (count + kMost - 1) / kMost;
  return {static_cast<std::uint32_t>((count + y - 1) / y), static_cast<std::uint32_t>(y)};
}

void finish_gpu() { glFinish(); }
void flush_gpu() { glFlush(); }

}  // namespace isotact
