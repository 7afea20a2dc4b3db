/**
 * The regular expression of a schema. JSON Schema prescribes Unicode expressions; many documents have patterns such as `[\w-.]` that are
 * valid only without that flag, and mean what they say there.
 * @throws {SyntaxError} when it is valid with neither
 */
export function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}
