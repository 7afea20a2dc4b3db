import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { DataValidationCxt, DataValidateFunction } from 'ajv/dist/types/index.js';

import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { joinPointer } from './pointer.ts';
import type { Compiled } from './schema-compiler.ts';

export interface Discriminator {
  readonly property: string;
  /** The pointers of the alternatives by the values of the property; the text of the mapping, if it is not a reference within the document. */
  readonly pointers: ReadonlyMap<string, string>;
  /** Whether all alternatives are references, so that each value names one. */
  readonly isWhole: boolean;
}

/**
 * Adds the keyword `discriminator`: where some alternative fits, it must be the one that the value of the discriminator names. Where none fits,
 * `oneOf` and `anyOf` report it.
 */
export function addDiscriminator(ajv: Ajv2020, compile: (pointer: string) => Compiled): void {
  ajv.addKeyword({
    keyword: 'discriminator',
    type: 'object',
    schemaType: 'object',
    errors: 'full',
    compile(_, parentSchema: JsonObject) {
      const discriminator = readDiscriminator(parentSchema);
      const validate: DataValidateFunction = (data: unknown, context?: DataValidationCxt) => {
        const errors = discriminator?.isWhole === true ? errorsOf(discriminator, data, compile) : [];
        validate.errors = errors.map((error) => ({ ...error, instancePath: `${context?.instancePath ?? ''}${error.instancePath ?? ''}` }));
        return errors.length === 0;
      };
      return validate;
    },
  });
}

/** The errors of an object that fits another alternative than the one it names. */
function errorsOf(
  { property, pointers: all }: Discriminator,
  data: unknown,
  compile: (pointer: string) => Compiled,
): readonly Partial<ErrorObject>[] {
  const pointers = new Map([...all].filter(([, pointer]) => pointer.startsWith('/')));
  const named = isObject(data) ? member(data, property) : undefined;
  if (![...new Set(pointers.values())].some((pointer) => compile(pointer)(data))) return [];
  const pointer = typeof named === 'string' ? pointers.get(named) : undefined;
  if (pointer === undefined) {
    const params = { allowedValues: [...pointers.keys()] };
    return [{ keyword: 'enum', instancePath: joinPointer('', property), schemaPath: '', params }];
  }
  const check = compile(pointer);
  return check(data) ? [] : (check.errors ?? []);
}

/**
 * Reads the discriminator of a schema with alternatives: the values of a mapping, and the names of the alternatives that are references.
 * @returns undefined when the schema has none
 */
export function readDiscriminator(schema: JsonObject): Discriminator | undefined {
  const discriminator = member(schema, 'discriminator');
  const property = isObject(discriminator) ? member(discriminator, 'propertyName') : undefined;
  if (!isObject(discriminator) || typeof property !== 'string') return undefined;
  const alternatives = [member(schema, 'oneOf'), member(schema, 'anyOf')]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    // Null has no property, and the keyword applies to objects only.
    .filter((one) => !(isObject(one) && one['type'] === 'null'));
  const references = alternatives.flatMap((one): readonly string[] => {
    const reference: unknown = isObject(one) ? member(one, '$ref') : undefined;
    return typeof reference === 'string' && reference.startsWith('#/') ? [reference.slice(1)] : [];
  });
  const pointers = new Map(references.map((pointer) => [decodeURIComponent(pointer.slice(pointer.lastIndexOf('/') + 1)), pointer]));
  const mapping = member(discriminator, 'mapping');
  for (const [value, target] of Object.entries(isObject(mapping) ? mapping : {})) {
    if (typeof target === 'string') pointers.set(value, target.startsWith('#/') ? target.slice(1) : (pointers.get(target) ?? target));
  }
  return { property, pointers, isWhole: alternatives.length > 0 && references.length === alternatives.length };
}
