import { DocumentError } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { member } from '../document/json.ts';
import type { Operation, OperationResponse } from '../document/operation.ts';
import { rootView } from '../document/view.ts';
import { jsonOf } from '../exchange/exchange.ts';
import type { Envelope } from './check.ts';

/**
 * Derives the envelope from the top-level properties that all JSON responses of a document require, successes and failures. What only successes
 * share says nothing about failures.
 */
export function readEnvelope(document: OpenApiDocument, operations: readonly Operation[]): Envelope {
  const all = operations.flatMap(({ responses }) => Object.entries(responses));
  const good = topsOf(
    document,
    all.filter(([status]) => status.startsWith('2')),
  );
  const bad = topsOf(
    document,
    all.filter(([status]) => /^[45]/.test(status)),
  );
  const required = good.length === 0 || bad.length === 0 ? [] : common([...good, ...bad]);
  let outcome: Envelope['outcome'];
  let identifier: string | undefined;
  let payload: string | undefined;
  for (const name of required) {
    const success = constantsOf(good, name);
    const failure = constantsOf(bad, name);
    if (success.length > 0 && failure.length > 0 && !success.some((value) => failure.includes(value)))
      outcome ??= { name, success, failure };
    if ([...good, ...bad].every((top) => top.view.member(name).view.nodes.some(({ schema }) => schema['format'] === 'uuid')))
      identifier ??= name;
    if (bad.some((top) => isNullOnly(top, name)) && !good.every((top) => isNullOnly(top, name))) payload ??= name;
  }
  return { required, outcome, identifier, payload };
}

interface Top {
  readonly view: ReturnType<typeof rootView>;
}

function topsOf(document: OpenApiDocument, responses: readonly (readonly [string, OperationResponse])[]): readonly Top[] {
  const pointers = new Set<string>();
  for (const [, response] of responses) {
    const pointer = jsonOf(response)?.pointer;
    if (pointer !== undefined) pointers.add(pointer);
  }
  return [...pointers].flatMap((pointer) => topAt(document, pointer));
}

/** Nothing for a schema with a broken reference, which no response of the run has. */
function topAt(document: OpenApiDocument, pointer: string): readonly Top[] {
  try {
    return [{ view: rootView(document, pointer) }];
  } catch (error) {
    if (error instanceof DocumentError) return [];
    throw error;
  }
}

function common(tops: readonly Top[]): readonly string[] {
  let names: readonly string[] | undefined;
  for (const { view } of tops) {
    const required = new Set(view.nodes.flatMap(({ schema }) => stringsIn(schema['required'])));
    names = names === undefined ? [...required] : names.filter((name) => required.has(name));
  }
  return names ?? [];
}

/** The constants of a property in all responses; empty when one of them does not require a constant. */
function constantsOf(tops: readonly Top[], name: string): readonly unknown[] {
  const found = new Set<unknown>();
  for (const { view } of tops) {
    const constant = view
      .member(name)
      .view.nodes.map(({ schema }) => member(schema, 'const'))
      .find((value) => value !== undefined);
    if (constant === undefined) return [];
    found.add(constant);
  }
  return [...found];
}

function isNullOnly({ view }: Top, name: string): boolean {
  return view.member(name).view.nodes.some(({ schema }) => schema['type'] === 'null');
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
