import type { PathValues } from './discover.ts';
import type { OpenApiDocument } from './document.ts';
import type { Operation, Parameter } from './operation.ts';
import { prefixOf, textsLike } from './sample.ts';
import { schemaNodes } from './schema.ts';
import type { Validator } from './validator.ts';

interface Parts {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
}

/** Most likely to fit first; each keeps to what nobody would have. */
const CANDIDATES = [
  '00000000-0000-4000-8000-00000000dead',
  'contract-test-unknown.invalid',
  'contract-test-unknown',
  '99999',
  '99999999',
  '987654321',
] as const;

/** A shorter identifier could be one that something has. */
const MIN_RUN_LENGTH = 6;

/** Path parameters that keep their rules and name nothing; undefined where no candidate keeps the rules, or leads to another path. */
export function madeUpPath({ document, operations, validator }: Parts, operation: Operation): PathValues | undefined {
  const values: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'path') continue;
    const value = candidates(document, parameter).find((candidate) => fits(validator, parameter, candidate));
    if (value === undefined) return undefined;
    values[parameter.name] = value;
  }
  return operations.length === 0 ? undefined : values;
}

/** Variations of the parameter's own example keep patterns that no list foresees. */
function candidates(document: OpenApiDocument, { pointer, examples }: Parameter): readonly string[] {
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

function fits(validator: Validator, { pointer }: Parameter, candidate: string): boolean {
  if (pointer === undefined) return true;
  const check = validator.compile(pointer);
  return check(candidate).length === 0 || (/^[0-9]+$/.test(candidate) && check(Number(candidate)).length === 0);
}
