import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import type { DataValidationCxt, DataValidateFunction } from 'ajv/dist/types/index.js';

import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { joinPointer } from './pointer.ts';
import type { Compiled } from './validator.ts';

/** The branches of a discriminator by their value, if each is a reference. */
interface Branches {
  readonly property: string;
  readonly pointers: ReadonlyMap<string, string>;
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
    compile(discriminator: JsonObject, parentSchema: JsonObject) {
      const branches = branchesOf(discriminator, parentSchema);
      const validate: DataValidateFunction = (data: unknown, context?: DataValidationCxt) => {
        const errors = branches === undefined ? [] : errorsOf(branches, data, compile);
        validate.errors = errors.map((error) => ({ ...error, instancePath: `${context?.instancePath ?? ''}${error.instancePath ?? ''}` }));
        return errors.length === 0;
      };
      return validate;
    },
  });
}

/** The errors of an object that fits another alternative than the one it names. */
function errorsOf(
  { property, pointers }: Branches,
  data: unknown,
  compile: (pointer: string) => Compiled,
): readonly Partial<ErrorObject>[] {
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

function branchesOf(discriminator: JsonObject, parentSchema: JsonObject): Branches | undefined {
  const property = member(discriminator, 'propertyName');
  const alternatives = member(parentSchema, 'oneOf') ?? member(parentSchema, 'anyOf');
  if (typeof property !== 'string' || !Array.isArray(alternatives)) return undefined;
  const references = alternatives.map((one) => (isObject(one) ? member(one, '$ref') : undefined));
  if (!references.every((one): one is string => typeof one === 'string' && one.startsWith('#/'))) return undefined;
  const pointers = new Map(references.map((one) => [decodeURIComponent(one.slice(one.lastIndexOf('/') + 1)), one.slice(1)]));
  const mapping = member(discriminator, 'mapping');
  for (const [value, target] of Object.entries(isObject(mapping) ? mapping : {})) {
    if (typeof target !== 'string') continue;
    const pointer = target.startsWith('#/') ? target.slice(1) : pointers.get(target);
    if (pointer !== undefined) pointers.set(value, pointer);
  }
  return { property, pointers };
}
