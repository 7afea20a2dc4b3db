/**
 * The regular expression of a `pattern`. JSON Schema requires the flag `u`, but many documents have patterns such as `[\w-.]` that are
 * valid only without it.
 * @throws {SyntaxError} when it is valid neither with the flag nor without
 */
export function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}
