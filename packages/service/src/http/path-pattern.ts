/** Matches the paths of requests for an operation, whatever their parameters are. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
