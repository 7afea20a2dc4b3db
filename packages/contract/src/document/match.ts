import type { Operation } from './operation.ts';
import { pathParameters, pathPattern } from './path-template.ts';

export interface Match {
  readonly operation: Operation;
  /** Path parameters, percent-decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the operation of a request; undefined when the document has none. */
export type Matcher = (method: string, path: string) => Match | undefined;

interface Route {
  readonly operation: Operation;
  readonly names: readonly string[];
  readonly pattern: RegExp;
  /** `0` for a literal segment, `1` for a variable one: sorts literal paths before templated ones, as OpenAPI requires. */
  readonly rank: string;
}

export function createMatcher(operations: readonly Operation[]): Matcher {
  const routes = operations.map(readRoute).toSorted((one, other) => (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0));
  return (method, path) => {
    for (const { operation, names, pattern } of routes) {
      if (operation.method !== method.toUpperCase()) continue;
      const values = pattern.exec(path)?.slice(1).map(decodeSegment);
      if (values === undefined || values.includes(undefined)) continue;
      return { operation, parameters: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])) };
    }
    return undefined;
  };
}

function readRoute(operation: Operation): Route {
  const rank = operation.path
    .split('/')
    .map((segment) => (segment.includes('{') ? '1' : '0'))
    .join('');
  return { operation, names: pathParameters(operation.path), pattern: pathPattern(operation.path), rank };
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
