#include "report/schema.h"

#include <map>
#include <stdexcept>

namespace isotact::tool {
namespace {

// A part of a schema, and the file that its local references are about.
struct SchemaPart {
  std::string file;
  const Json* node;
};

const Json& schema_file(const std::string& name) {
  static std::map<std::string, Json> files;
  const auto [place, is_new] = files.try_emplace(name);
  if (is_new) {
    const std::string_view text = schema_text(name);
    if (text.empty()) throw std::logic_error("no schema is named " + name);
    place->second = Json::parse(text);
  }
  return place->second;
}

// "keys.json#/$defs/volume", "#/$defs/volume" or "info_file.json".
SchemaPart follow(SchemaPart part) {
  while (part.node->contains("$ref")) {
    const auto target = (*part.node)["$ref"].get<std::string>();
    const std::size_t hash = target.find('#');
    if (hash != 0) part.file = target.substr(0, target.find(".json"));
    part.node = &schema_file(part.file);
    if (hash != std::string::npos)
      part.node = &part.node->at(Json::json_pointer(target.substr(hash + 1)));
  }
  return part;
}

// What describes a value that is not null: of "this or null" the first.
SchemaPart without_null(SchemaPart part) {
  part = follow(part);
  if (!part.node->contains("anyOf")) return part;
  const Json* only = nullptr;
  for (const Json& choice : (*part.node)["anyOf"]) {
    if (choice.value("type", Json()) == "null") continue;
    if (only != nullptr) return part;  // more than one: left as it is
    only = &choice;
  }
  return only == nullptr ? part : follow({part.file, only});
}

Json absent_value(const SchemaPart& part) {
  const SchemaPart own = follow(part);
  if (own.node->contains("const")) return (*own.node)["const"];
  return own.node->value("default", Json());
}

Json complete_part(const SchemaPart& part, const Json& value) {
  const SchemaPart own = without_null(part);
  if (value.is_array() && own.node->contains("items")) {
    Json list = Json::array();
    for (const Json& item : value)
      list.push_back(complete_part({own.file, &(*own.node)["items"]}, item));
    return list;
  }
  if (!value.is_object() || !own.node->contains("properties")) return value;
  Json object = Json::object();
  for (const auto& [key, schema] : (*own.node)["properties"].items()) {
    const SchemaPart member{own.file, &schema};
    const auto place = value.find(key);
    object[key] = place == value.end() ? absent_value(member) : complete_part(member, *place);
  }
  for (const auto& [key, member] : value.items())
    if (!object.contains(key)) object[key] = member;
  return object;
}

}  // namespace

std::string schema_id(const std::string& name) {
  const Json& file = schema_file(name);
  const Json& shape = file.contains("anyOf") ? file["anyOf"][0] : file;
  return shape["properties"]["schema"]["const"].get<std::string>();
}

Json complete(const std::string& name, const Json& object) {
  return complete_part({name, &schema_file(name)}, object);
}

}  // namespace isotact::tool
