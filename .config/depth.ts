/** How deep a run of the tests goes. `test` and `test:all` run a small part of each costly test, and `test:deep` runs the larger amounts. */
import { ring } from './rings.ts';

export const isDeep: boolean = ring === 'deep';

/** The limit of one wait, and of a usual test, in milliseconds. It is long, because a busy machine is slow, and a slow test is not a failure. */
export const WAIT_LIMIT_MS = 600_000;

/** The shortest limit of a wait in milliseconds: below that of a test, so that a failure says which condition was not met. */
export const POLL_LIMIT_MS = 300_000;

/** The limit of a test, in milliseconds. */
export const TEST_TIMEOUT_MS: number = isDeep ? 6 * WAIT_LIMIT_MS : WAIT_LIMIT_MS;

/** The tag of a test that only a deep run has: `test(NAME, { tags: 'deep' }, ...)`. */
export const deepTag = { name: 'deep', description: 'Runs only with test:deep.', skip: !isDeep };

/** The value for the depth of this run, such as the widths at which a test shows a page. */
export function byDepth<Usual, Deep>({ usual, deep }: { readonly usual: Usual; readonly deep: Deep }): Usual | Deep {
  return isDeep ? deep : usual;
}

/** A number of seeds, rounds or cases: the one in an environment variable, or else the one for the depth of this run. */
export function amountOf(variable: string, amounts: { readonly usual: number; readonly deep: number }): number {
  return Number(process.env[variable] ?? byDepth(amounts));
}
