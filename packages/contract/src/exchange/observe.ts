import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member, typeOf } from '../document/json.ts';
import { valueAt } from '../document/pointer.ts';
import { MASK, maskSecrets } from '../document/secrets.ts';
import { maskNamed, MIN_SECRET_LENGTH } from './secret-values.ts';

const MAX_TEXT_LENGTH = 60;
const MAX_NAMES = 8;

/** Describes the value at a pointer without secrets: objects and lists by their shape, short scalars literally. */
export function observe(document: OpenApiDocument, schemaPointer: string, value: unknown, pointer: string): string {
  return describe(valueAt(withoutSecretsOf(document, schemaPointer, value), pointer));
}

interface Masked {
  readonly document: OpenApiDocument;
  readonly schemaPointer: string;
  readonly copy: unknown;
}

/** A long list may have an issue for each item, so its copy is made once. */
const masks = new WeakMap<object, Masked>();

function withoutSecretsOf(document: OpenApiDocument, schemaPointer: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return maskNamed(maskSecrets(document, schemaPointer, value));
  const known = masks.get(value);
  if (known?.document === document && known.schemaPointer === schemaPointer) return known.copy;
  const copy = maskNamed(maskSecrets(document, schemaPointer, value));
  masks.set(value, { document, schemaPointer, copy });
  return copy;
}

/** Describes the shape of an undescribed value without its content. */
export function shapeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}, the first ${shapeOf(value[0])}`;
  if (!isObject(value)) return typeOf(value);
  const names = Object.keys(value);
  const shown = names.slice(0, MAX_NAMES).map((name) => `${name}: ${isObject(value[name]) ? 'object' : typeOf(value[name])}`);
  return `an object {${shown.join(', ')}${names.length > MAX_NAMES ? ', …' : ''}}`;
}

function describe(value: unknown): string {
  if (value === MASK) return MASK;
  if (typeof value !== 'string')
    return typeof value === 'object' && value !== null ? shapeOf(value) : value === undefined ? 'nothing' : JSON.stringify(value);
  return shortText(value);
}

/** A short text literally, a long one by its length. */
export function shortText(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? JSON.stringify(text) : `a string of ${text.length} characters`;
}

/** The secrets of a value, to be removed from all reports. */
export function secretsIn(document: OpenApiDocument, schemaPointer: string, value: unknown): readonly string[] {
  const secrets: string[] = [];
  function addMaskedTexts(original: unknown, masked: unknown): void {
    if (original === masked) return;
    if (masked === MASK) {
      addTexts(original, secrets);
    } else if (Array.isArray(original) && Array.isArray(masked)) {
      original.forEach((item, index) => addMaskedTexts(item, masked[index]));
    } else if (isObject(original) && isObject(masked)) {
      for (const name of Object.keys(original)) addMaskedTexts(original[name], member(masked, name));
    }
  }
  addMaskedTexts(value, maskSecrets(document, schemaPointer, value));
  return secrets;
}

function addTexts(value: unknown, into: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') into.push(String(value));
  else if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) addTexts(child, into);
}

/** Returns a function that masks secrets in a text, including their JSON and URL encodings. */
export function scrubber(secrets: Iterable<string>): (text: string) => string {
  const forms = [...new Set(secrets)].flatMap((secret) => (secret.length < MIN_SECRET_LENGTH ? [] : formsOf(secret)));
  const known = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  // Many texts repeat, especially headers.
  const done = new Map<string, string>();
  return (text) => {
    let scrubbed = done.get(text);
    if (scrubbed === undefined) {
      scrubbed = known.reduce((left, secret) => left.replaceAll(secret, MASK), text);
      done.set(text, scrubbed);
    }
    return scrubbed;
  };
}

function formsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), ...(secret.isWellFormed() ? [encodeURIComponent(secret)] : [])];
}
