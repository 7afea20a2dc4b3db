/** A parameter in a path template: `{vmid}`. */
const PARAMETER = /\{([^{}]+)\}/g;

/** The names of the parameters of a path template, in order. */
export function pathParameters(template: string): readonly string[] {
  return [...template.matchAll(PARAMETER)].map(([, name = '']) => name);
}

export function hasPathParameters(template: string): boolean {
  return pathParameters(template).length > 0;
}

/** A path, or its template, without the last segment. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/**
 * Replaces the parameters of a path template by percent-encoded values.
 * @param values by parameter name; a parameter without a value becomes empty
 */
export function fillPath(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template.replaceAll(PARAMETER, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** A regular expression that matches the paths of a template and captures the raw value of each parameter. */
export function pathPattern(template: string): RegExp {
  const source = template
    .split(PARAMETER)
    // String.split returns the captured names between the literal parts.
    .map((part, index) => (index % 2 === 1 ? '([^/]+)' : part.replace(/[\\^$.*+?()[\]|{}]/g, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`);
}
