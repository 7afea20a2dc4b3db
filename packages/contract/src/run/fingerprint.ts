import { createHash } from 'node:crypto';

import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { responseFor } from '../document/operations.ts';
import { joinPointer } from '../document/pointer.ts';
import { MASK, maskSecrets } from '../document/secrets.ts';
import { jsonOf } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** The values of a resource as hashes, by JSON pointer, without secrets. */
export interface Fingerprint {
  readonly values: Readonly<Record<string, string>>;
  /** The values that no other resource has: UUIDs, times, and names that the run made unique. */
  readonly unique: readonly string[];
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;
const UNIQUE_NAME = /^contract-[0-9a-z]+-/;
const TIME_NAME = /created|updated|modified|time|date|_at$/i;
const FIRST_TIME_S = 1_000_000_000;

/** The fingerprint of the resource in a JSON response; undefined when there is none. */
export function fingerprintOf(document: OpenApiDocument, exchange: Exchange): Fingerprint | undefined {
  if (exchange.body.kind !== 'json') return undefined;
  const response = responseFor(exchange.operation, exchange.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (pointer === undefined) return undefined;
  const values: Record<string, string> = {};
  const unique: string[] = [];
  function addValues(value: unknown, at: string): void {
    if (value === MASK) return;
    if (Array.isArray(value)) return value.forEach((item, index) => addValues(item, joinPointer(at, index)));
    if (isObject(value)) return Object.entries(value).forEach(([name, item]) => addValues(item, joinPointer(at, name)));
    values[at] = createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
    if (isUnique(value, at)) unique.push(at);
  }
  addValues(maskSecrets(document, pointer, exchange.body.value), '');
  return { values, unique };
}

function isUnique(value: unknown, at: string): boolean {
  if (typeof value === 'number') return value >= FIRST_TIME_S && TIME_NAME.test(at.slice(at.lastIndexOf('/')));
  return typeof value === 'string' && (UUID.test(value) || TIME.test(value) || UNIQUE_NAME.test(value));
}

/** Whether a reading shows the resource of a fingerprint, unchanged: a unique value is the same, and no value differs. */
export function isSameResource(made: Fingerprint, read: Fingerprint): boolean {
  return sharesUnique(made, read) && Object.entries(made.values).every(([at, value]) => (read.values[at] ?? value) === value);
}

/** Whether a reading has a unique value of a fingerprint. Other values may have changed. */
export function sharesUnique(made: Fingerprint, read: Fingerprint): boolean {
  return made.unique.some((at) => read.values[at] === made.values[at]);
}
