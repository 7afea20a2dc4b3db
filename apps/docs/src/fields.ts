/** The fields of a form or a response, with their effective provenance. */
import type { OpenApi, Schema } from './document.ts';
import { schemaOf } from './document.ts';
import type { Mark, Provenance } from './provenance.ts';
import { inlineMarks, limitMarks, withoutRemarks } from './provenance.ts';
import { isOfExtension } from './references.ts';

export interface Field {
  /** Name within the field that contains it: `address`. */
  readonly name: string;
  /** Path within the body: `data.config.ipv4[].address`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Meaning, limits and default, as Markdown on one line. */
  readonly meaning: string;
  readonly provenance: Provenance;
  /** Whether the field is not in the specification, although its operation is. */
  readonly isExtension: boolean;
  /** The fields of an object, or of the items of an array. */
  readonly fields: readonly Field[];
}

/** Maximum nesting of the fields. No response of the documents is nested deeper. */
const MAX_DEPTH = 8;

export function fieldsOf(
  document: Pick<OpenApi, 'components'>,
  body: Schema,
  { inherited, mark, isWithinExtension = false }: { inherited: Provenance; mark: Mark; isWithinExtension?: boolean },
): Field[] {
  function fieldOf(
    name: string,
    part: Schema,
    { above, path, isRequired }: { above: Provenance; path: string; isRequired: boolean },
  ): Field {
    const resolved = schemaOf(document, part);
    const provenance = part['x-provenance'] ?? resolved['x-provenance'] ?? above;
    return {
      name,
      path,
      type: [typeOf(document, resolved), rangeOf(resolved)].filter((text) => text !== '').join(', '),
      isRequired,
      meaning: meaningOf(resolved, mark),
      provenance,
      isExtension: !isWithinExtension && (isOfExtension(part) || isOfExtension(resolved)),
      fields: path.split('.').length < MAX_DEPTH ? members(resolved, path, provenance) : [],
    };
  }

  function members(schema: Schema, path: string, above: Provenance): Field[] {
    const prefix = path === '' ? '' : `${path}.`;
    const required = new Set(schema.required);
    function within(parts: readonly Schema[], inner = path): Field[] {
      return parts.flatMap((part) => {
        const resolved = schemaOf(document, part);
        return members(resolved, inner, part['x-provenance'] ?? resolved['x-provenance'] ?? above);
      });
    }
    return [
      ...Object.entries(schema.properties ?? {}).map(([name, part]) =>
        fieldOf(name, part, { above, path: `${prefix}${name}`, isRequired: required.has(name) }),
      ),
      // A branch of `anyOf` is the object of a nullable object, or a value without fields.
      ...within([...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]),
      ...within(schema.items === undefined ? [] : [schema.items], `${path}[]`),
      ...(typeof schema.additionalProperties === 'object'
        ? [fieldOf('<key>', schema.additionalProperties, { above, path: `${prefix}<key>`, isRequired: false })]
        : []),
    ];
  }

  const resolved = schemaOf(document, body);
  return members(resolved, '', body['x-provenance'] ?? resolved['x-provenance'] ?? inherited);
}

/** The fields and all fields within them, in the order of the document. */
export function flat(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => [field, ...flat(field.fields)]);
}

function typeOf(document: Pick<OpenApi, 'components'>, schema: Schema): string {
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

/** The section "Requests and responses" of the document states this once for all texts. */
const PLAIN_TEXT = /without control characters$/;

/** The exact rule after an example, which matters only to a program. */
const EXACT_RULE = /(?<= such as [^]*): [^]*$/;

/** The limits of a text, as sentences. */
function limitsOf({ minLength, maxLength, format, 'x-expected': expected = '' }: Schema): string {
  const isFixed = format !== undefined || minLength === maxLength;
  return [
    maxLength === undefined || isFixed ? '' : `Up to ${maxLength} characters.`,
    expected === '' || PLAIN_TEXT.test(expected) ? '' : `Format: ${expected.replace(EXACT_RULE, '')}.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** The limits of a number, as part of its type. */
function rangeOf({ minimum, maximum, multipleOf }: Schema): string {
  const steps = multipleOf === undefined ? '' : ` in steps of ${multipleOf}`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}${steps}`;
  if (minimum !== undefined) return `${minimum} or more`;
  return maximum === undefined ? '' : `up to ${maximum}`;
}
