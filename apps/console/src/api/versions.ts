/** The versions of resources that the page has read, so that a change is refused if another operator made one in the meantime. */
import { fillPath } from '@reseller/contract';

/** A state of a resource. */
export interface SeenState {
  readonly tag: string;
  readonly body: unknown;
}

/** By path. There are a few: only resources that operators replace as a whole have versions. */
const seen = new Map<string, SeenState>();

/** Keeps the state in a response that has a version. */
export async function rememberVersion(url: string, response: Response): Promise<void> {
  const tag = response.headers.get('etag');
  if (response.ok && tag !== null)
    seen.set(new URL(url, globalThis.location.origin).pathname, { tag, body: await response.clone().json() });
}

/** The last state that was read. @param path A path of the operator document. */
export function seenState(path: string | undefined, values: Readonly<Record<string, string>>): SeenState | undefined {
  return path === undefined ? undefined : seen.get(fillPath(path, values));
}

/** The values that differ, such as `city: Berlin is now Hamburg`. */
export function differences(before: unknown, after: unknown, name = ''): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const [one, other] = [Object(before), Object(after)];
  if (!isNested(before) || !isNested(after)) return [`${name}: ${shownValue(before)} is now ${shownValue(after)}`];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => differences(one[key], other[key], key));
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shownValue(value: unknown): string {
  return value === null || value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);
}
