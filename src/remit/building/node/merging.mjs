// Made by `npm run build` in sdk/ from sdk/src/core; changes belong there.

// src/wire/json.ts
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/core/merging.ts
var ANNOTATIONS = /* @__PURE__ */ new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "id",
  "$id"
]);
var KEYED = ["properties", "patternProperties", "$defs"];
var LISTED = ["anyOf", "oneOf", "allOf", "prefixItems"];
function isOpen(schema) {
  return schema === true || isRecord(schema) && Object.keys(schema).every((key) => ANNOTATIONS.has(key));
}
function refers(schema) {
  return JSON.stringify(schema)?.includes('"$ref"') ?? false;
}
function merge(input, output) {
  if (isOpen(input) && isRecord(output) && !isOpen(output) && !refers(output)) {
    return { ...output, ...isRecord(input) ? input : {} };
  }
  return isRecord(input) && isRecord(output) ? mergedParts(input, output) : input;
}
function mergedParts(input, output) {
  const made = { ...input };
  if (isClosedBy(input, output)) {
    made["additionalProperties"] = false;
  }
  for (const key of KEYED) {
    const [ours, theirs] = [input[key], output[key]];
    if (isRecord(ours) && isRecord(theirs)) {
      made[key] = byName(ours, theirs);
    }
  }
  for (const key of LISTED) {
    const [ours, theirs] = [input[key], output[key]];
    if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
      made[key] = ours.map((part, index) => merge(part, theirs[index]));
    }
  }
  for (const key of ["items", "additionalProperties"]) {
    if (key in input && key in output) {
      made[key] = merge(input[key], output[key]);
    }
  }
  return made;
}
function isClosedBy(input, output) {
  const isSilent = "properties" in input && !("additionalProperties" in input);
  return isSilent && output["additionalProperties"] === false;
}
function byName(ours, theirs) {
  return Object.fromEntries(
    Object.entries(ours).map(([name, part]) => [
      name,
      Object.hasOwn(theirs, name) ? merge(part, theirs[name]) : part
    ])
  );
}
export {
  isOpen,
  merge
};
