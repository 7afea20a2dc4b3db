import type { Issue } from '../document/issues.ts';
import { isObject, typeOf } from '../document/json.ts';
import { lastToken, parentPointer } from '../document/pointer.ts';
import { OBSERVED, shapeSchema } from './infer.ts';
import type { Proposal } from './proposal.ts';

/** The change of the document that allows a value that breaks one of its rules. */
export function proposalFor({ keyword, schemaPath, path, params }: Issue, value: unknown): Proposal | undefined {
  if (schemaPath === '') return undefined;
  const schema = parentPointer(schemaPath);
  const written = lastToken(schemaPath);
  // ajv-errors reports a type that no branch allows with the keyword `type` at `anyOf` or `oneOf`.
  if (written === 'anyOf' || written === 'oneOf') {
    return Array.isArray(params['passingSchemas'])
      ? { kind: 'rename-key', at: schema, key: 'oneOf', to: 'anyOf' }
      : { kind: 'add-item', at: schemaPath, value: shapeSchema(value) };
  }
  if (written !== keyword) return undefined;
  const name = lastToken(path);
  switch (keyword) {
    case 'required':
      return { kind: 'remove-item', at: schemaPath, value: name };
    case 'dependentRequired':
      return { kind: 'remove-entry', at: schemaPath, key: String(params['property']) };
    case 'type':
      return { kind: 'allow-type', at: schemaPath, type: typeOf(value) };
    case 'enum':
      return isObject(value) || Array.isArray(value)
        ? { kind: 'remove-entry', at: schema, key: keyword }
        : { kind: 'add-item', at: schemaPath, value };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        kind: 'add-entry',
        at: `${schema}/properties`,
        key: name,
        value: { ...shapeSchema(value), 'x-provenance': 'inferred', description: OBSERVED },
      };
    default:
      return { kind: 'remove-entry', at: schema, key: keyword };
  }
}
