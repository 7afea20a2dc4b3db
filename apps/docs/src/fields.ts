/** The fields of a form or a response, one row each, with their effective provenance. */
import type { OpenApi, Schema } from './document.ts';
import { schemaOf } from './document.ts';
import type { Mark, Provenance } from './provenance.ts';
import { inlineMarks, limitMarks, withoutRemarks } from './provenance.ts';

export interface Field {
  /** Path within the body: `data.config.ipv4[].address`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Meaning, limits and default, as Markdown on one line. */
  readonly meaning: string;
  readonly provenance: Provenance;
}

/** Maximum nesting of the rows. No response of the documents is nested deeper. */
const MAX_DEPTH = 8;

export function fieldsOf(document: OpenApi, body: Schema, { inherited, mark }: { inherited: Provenance; mark: Mark }): Field[] {
  const rows: Field[] = [];

  function visit(part: Schema, path: string, above: Provenance, isRequired: boolean, depth: number): void {
    const resolved = schemaOf(document, part);
    const provenance = part['x-provenance'] ?? resolved['x-provenance'] ?? above;
    if (path !== '') rows.push({ path, type: typeOf(document, resolved), isRequired, meaning: meaningOf(resolved, mark), provenance });
    if (depth < MAX_DEPTH) members(resolved, path, provenance, depth);
  }

  function members(schema: Schema, path: string, provenance: Provenance, depth: number): void {
    const prefix = path === '' ? '' : `${path}.`;
    const required = new Set(schema.required);
    for (const [name, part] of Object.entries(schema.properties ?? {}))
      visit(part, `${prefix}${name}`, provenance, required.has(name), depth + 1);
    for (const part of schema.allOf ?? []) {
      const resolved = schemaOf(document, part);
      members(resolved, path, part['x-provenance'] ?? resolved['x-provenance'] ?? provenance, depth);
    }
    const items = schema.items === undefined ? undefined : schemaOf(document, schema.items);
    if (items !== undefined) members(items, `${path}[]`, items['x-provenance'] ?? provenance, depth);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, `${prefix}<key>`, provenance, false, depth + 1);
    // A nullable object.
    for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
      const resolved = schemaOf(document, part);
      if (resolved.properties !== undefined || resolved.allOf !== undefined)
        members(resolved, path, resolved['x-provenance'] ?? provenance, depth);
    }
  }

  visit(body, '', inherited, false, 0);
  return rows;
}

function typeOf(document: OpenApi, schema: Schema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.items !== undefined) return `array of ${typeOf(document, schemaOf(document, schema.items))}`;
  if (schema.type !== undefined) {
    const types = [schema.type]
      .flat()
      .map((type) => (type === 'object' && schema.additionalProperties && !schema.properties ? 'map' : type));
    return types.join(' or ');
  }
  const branches = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  const names = new Set(branches.map((branch) => typeOf(document, schemaOf(document, branch))));
  return [...names].filter((name) => name !== 'any').join(' or ') || 'any';
}

function meaningOf(schema: Schema, mark: Mark): string {
  const { description = '' } = schema;
  const values = [schema, ...(schema.anyOf ?? [])].flatMap(({ enum: listed = [] }) => listed);
  return [
    inlineMarks(withoutRemarks(description), mark),
    values.length > 0 ? `Values: ${values.map((value) => `\`${String(value)}\``).join(', ')}${schema.anyOf ? ' and others' : ''}.` : '',
    limitsOf(schema),
    schema.default === undefined ? '' : `Default: \`${String(schema.default)}\`.`,
    limitMarks(description, mark),
  ]
    .filter((text) => text !== '')
    .join(' ')
    .replaceAll(/\s+/g, ' ');
}

function limitsOf(schema: Schema): string {
  const limits = [
    schema.minimum === undefined ? '' : `at least ${schema.minimum}`,
    schema.maximum === undefined ? '' : `at most ${schema.maximum}`,
    schema.multipleOf === undefined ? '' : `in steps of ${schema.multipleOf}`,
    schema.maxLength === undefined ? '' : `at most ${schema.maxLength} characters`,
    schema['x-expected'] ?? '',
  ].filter((text) => text !== '');
  return limits.length === 0 ? '' : `Must be ${limits.join(', ')}.`;
}
