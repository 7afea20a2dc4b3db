import type { OpenApiDocument } from '../document/document.ts';
import type { Operation, Parameter } from '../document/operation.ts';
import { prefixOf, textsLike } from '../document/sample.ts';
import { schemaNodes } from '../document/schema.ts';
import type { Validator } from '../document/validator.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { RequestSource } from './sendable.ts';

/** Identifiers that no resource has, the most widely valid first. */
const CANDIDATES = [
  '00000000-0000-4000-8000-00000000dead',
  'contract-test-unknown.invalid',
  'contract-test-unknown',
  '99999',
  '99999999',
  '987654321',
] as const;

/** A shorter text could be the identifier of a resource. */
const MIN_RUN_LENGTH = 6;

/** Valid path parameters that identify no resource; undefined when no candidate is valid. */
export function madeUpPath(
  { document, operations, validator }: Pick<RequestSource, 'document' | 'operations' | 'validator'>,
  operation: Operation,
): PathValues | undefined {
  const values: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'path') continue;
    const value = madeUpValues(document, parameter).find((candidate) => fitsParameter(validator, parameter, candidate));
    if (value === undefined) return undefined;
    values[parameter.name] = value;
  }
  return operations.length === 0 ? undefined : values;
}

/** Adds variations of the parameter's example and pattern to the fixed candidates. */
function madeUpValues(document: OpenApiDocument, { pointer, examples }: Parameter): readonly string[] {
  const written =
    pointer === undefined
      ? []
      : schemaNodes(document, pointer).flatMap(({ schema }) => (Array.isArray(schema['examples']) ? schema['examples'] : []));
  const known = [...examples, ...written].filter((example) => typeof example === 'string' || typeof example === 'number').map(String);
  const patterns = pointer === undefined ? [] : schemaNodes(document, pointer).map(({ schema }) => schema['pattern']);
  const ofPatterns = patterns.flatMap((pattern) =>
    typeof pattern === 'string'
      ? [`${prefixOf(pattern)}contract-test-unknown`, ...textsLike(pattern, ['9', 'f', 'z', 'Z'], MIN_RUN_LENGTH).toReversed()]
      : [],
  );
  return [...CANDIDATES, ...known.map((example) => example.replaceAll(/[0-9]/g, '9')), ...ofPatterns].filter(
    (candidate) => !known.includes(candidate),
  );
}

function fitsParameter(validator: Validator, { pointer }: Parameter, candidate: string): boolean {
  if (pointer === undefined) return true;
  const check = validator.compile(pointer);
  return check(candidate).length === 0 || (/^[0-9]+$/.test(candidate) && check(Number(candidate)).length === 0);
}
