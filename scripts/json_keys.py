"""python3 scripts/json_keys.py [--check]: the lists of docs/json.md, made from docs/schema.

What stands between <!-- keys: NAME --> and <!-- /keys --> is written anew: `verbs`, the keys of every output, and `all`,
every key with its type, unit and meaning. With --check nothing is written, and a page that is not as the schemas have
it ends this with exit code 1.
"""
import json
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
PAGE = SOURCE / "docs/json.md"
WIDTH = 120


def read_schemas():
    return {path.stem: json.loads(path.read_text()) for path in sorted((SOURCE / "docs/schema").glob("*.json"))}


def is_nullable(schema):
    return any(choice.get("type") == "null" for choice in schema.get("anyOf", []))


def target_of(schema):
    for choice in (schema, *schema.get("anyOf", [])):
        if "$ref" in choice:
            return choice["$ref"]
    return ""


def resolve(schema, schemas):
    """What describes a value that is not null."""
    target = target_of(schema)
    if target:
        file, _, path = target.partition("#")
        node = schemas[file.removesuffix(".json") or "keys"]
        for part in path.split("/")[1:]:
            node = node[part]
        return {**node, **({"description": schema["description"]} if "description" in schema else {})}
    return schema


def type_of(schema):
    if "enum" in schema:
        return "string"
    if "anyOf" in schema:
        return " or ".join(type_of(choice) for choice in schema["anyOf"])
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind != "array":
        return kind
    least, most = schema.get("minItems"), schema.get("maxItems")
    item = type_of(schema["items"]) if "items" in schema else "object"
    if least is not None and least == most and least > 1:
        return f"{least} {item}s"
    return "list of " + (item if item.endswith("s") else item + "s")


def wrap(words, start):
    lines, line = [], start
    for word in words:
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = "  " + word
        else:
            line += (" " if line else "") + word
    return "\n".join(lines + [line])


def keys_of(schema):
    """Keys of an object, in order, with a question mark for those that may be null."""
    return [f"`{key}`" + ("?" if is_nullable(own) else "") for key, own in schema["properties"].items()
            if key != "schema"]


def list_verbs(schemas):
    parts = []
    for name, schema in schemas.items():
        if name == "keys":
            continue
        for body in schema.get("anyOf", [schema]):
            keys = keys_of(body)
            text = schema["title"] + (f" ({body['description'].rstrip('.').lower()})" if "anyOf" in schema else "")
            if name == "info":
                keys = ["`files`?,", "and", "the", "keys", "of", "one", "file,", "which", "are", "null", "if", "there",
                        "are", "several"]
            else:
                keys = [key + "," for key in keys[:-1]] + keys[-1:]
            parts.append(wrap(keys, f"- **{text}**:"))
    return "\n".join(parts)


def outputs_with(schemas):
    """Of every key, the schemas in which it occurs, at whatever depth."""
    found = {}

    def visit(name, node, seen):
        if isinstance(node, list):
            for part in node:
                visit(name, part, seen)
        if not isinstance(node, dict):
            return
        for key, own in node.get("properties", {}).items():
            found.setdefault(key, (resolve(own, schemas), set()))[1].add(name)
            target = target_of(own)
            if target and key not in seen and "#" in target:
                visit(name, resolve(own, schemas), seen | {key})
        for part in node.values():
            visit(name, part, seen)

    for name, schema in schemas.items():
        if name != "keys":
            visit({"info_file": "info", "bench_report": "bench", "bench_list": "bench", "make_list": "make"}
                  .get(name, name), schema, frozenset())
    return found


def list_all(schemas):
    rows = ["| key | type | unit | meaning |", "|---|---|---|---|"]
    for key, (schema, names) in sorted(outputs_with(schemas).items()):
        if key == "schema":
            schema, names = schemas["keys"]["$defs"]["schema"], ["all"]
        values = " One of " + ", ".join(f"`{value}`" for value in schema.get("enum", [])) + "."
        row = f"| `{key}` | {type_of(schema)} | {schema.get('unit', '')} | {schema.get('description', '')}"
        rows.append(row + (values if "enum" in schema and len(row + values) + 2 <= WIDTH else "") + " |")
    return "\n".join(rows)


def main():
    schemas = read_schemas()
    made = {"verbs": list_verbs(schemas), "all": list_all(schemas)}
    page = PAGE.read_text()

    def replace(match):
        return f"<!-- keys: {match[1]} -->\n\n{made[match[1]]}\n\n<!-- /keys -->"

    wanted = re.sub(r"<!-- keys: (\w+) -->.*?<!-- /keys -->", replace, page, flags=re.S)
    if "--check" not in sys.argv:
        PAGE.write_text(wanted)
    elif wanted != page:
        sys.exit("docs/json.md is not as docs/schema has it: run python3 scripts/json_keys.py")


main()
