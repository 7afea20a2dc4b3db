/**
 * Each bound of each field in a form of the reseller API or a body of the operator API: the value at the bound is accepted, and the next one
 * is refused by the rule of the bound. The bounds are read from the documents here, not from the service.
 */
import { readForm } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import resellerDocument from '@reseller/openapi/service.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import { operatorApi } from '../src/http/operator/api.ts';
import { apiOperations } from '../src/http/reseller/api.ts';
import { mistakesOf } from '../src/http/shared/mistakes.ts';

type Schema = Readonly<Record<string, unknown>>;
type Document = Readonly<Record<string, unknown>>;

/** A bound, with a value at it and one beyond it. Undefined if the other rules of the field allow no such value. */
interface Bound {
  readonly rule: string;
  readonly at: unknown;
  readonly beyond: unknown;
}

const MAX_INT32 = 2_147_483_647;
const FORMATS: Readonly<Record<string, string>> = {
  email: String.raw`^[^@]+@[^@]+\.[^@]+$`,
  uuid: String.raw`^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$`,
  'date-time': '^[0-9-]{10}T[0-9:.]+Z$',
};
/** Lengths of which no text follows the other rules of the field. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['createVm', 'quoteCreateVm'].flatMap((id) => [`${id} ssh_key minLength`, `${id} default_ptr minLength`]),
  'addSshKey ssh_key minLength',
  'addWebhook url minLength',
  'editWebhook url minLength',
  'replayWebhook since minLength',
  ...['minLength', 'maxLength'].map((bound) => `enableDomainDnssec ds_records ${bound}`),
  'setVmRdns domain minLength',
  ...['createVm', 'registerDomain', 'changeVm', 'purchaseDedicatedServer', 'buyIps', 'assignIp', 'releaseIp', 'renewDomain'].map(
    (id) => `${id} max_price maxLength`,
  ),
  ...[
    'quoteCreateVm',
    'quoteRegisterDomain',
    'quoteChangeVm',
    'quotePurchaseDedicatedServer',
    'quoteBuyIps',
    'quoteAssignIp',
    'quoteRenewDomain',
  ].map((id) => `${id} max_price maxLength`),
  'renewDomain expire maxLength',
  'quoteRenewDomain expire maxLength',
  'createHandle email minLength',
  // edit-vm.test.ts has texts of this length.
  ...['createVm', 'quoteCreateVm', 'editVm', 'searchVms'].map((id) => `${id} labels maxLength`),
]);

/** A schema with the keywords of those that it refers to or consists of. */
function resolved(document: Document, schema: unknown): Schema {
  const { $ref, allOf, ...own }: Record<string, unknown> = Object(schema);
  const referred =
    typeof $ref === 'string'
      ? resolved(
          document,
          $ref
            .slice(2)
            .split('/')
            .reduce<unknown>((value, name) => Object(value)[name], document),
        )
      : {};
  const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
  const all = [referred, ...parts.map((part) => resolved(document, part)), own];
  return { ...Object.assign({}, ...all), properties: Object.assign({}, ...all.map(({ properties }) => properties)) };
}

function boundsOf(schema: Schema): Bound[] {
  const number = (name: string): number | undefined => (typeof schema[name] === 'number' ? schema[name] : undefined);
  const [minimum, maximum, step = 1] = [number('minimum'), number('maximum'), number('multipleOf')];
  const [minLength, maxLength, minItems, maxItems] = ['minLength', 'maxLength', 'minItems', 'maxItems'].map(number);
  const patterns = [schema['pattern'], FORMATS[String(schema['format'])]].flatMap((pattern) =>
    typeof pattern === 'string' ? new RegExp(pattern, 'u') : [],
  );
  const text = (length: number) => textsOf(length).find((one) => patterns.every((pattern) => pattern.test(one)));
  const list = (length: number) => Array.from({ length }, (_, index) => index);
  return [
    ...(minimum === undefined ? [] : [{ rule: 'minimum', at: minimum, beyond: minimum - step }]),
    ...(maximum === undefined ? [] : [{ rule: 'maximum', at: maximum, beyond: maximum + step }]),
    ...(step === 1 ? [] : [{ rule: 'multipleOf', at: (minimum ?? 0) + step, beyond: (minimum ?? 0) + step + 1 }]),
    ...(schema['format'] === 'int32' && maximum === undefined ? [{ rule: 'format', at: MAX_INT32, beyond: MAX_INT32 + 1 }] : []),
    ...(minLength === undefined ? [] : [{ rule: 'minLength', at: text(minLength), beyond: text(minLength - 1) }]),
    ...(maxLength === undefined
      ? []
      : [{ rule: 'maxLength', at: text(maxLength), beyond: text(maxLength + 1) ?? 'a'.repeat(maxLength + 1) }]),
    ...(minItems === undefined ? [] : [{ rule: 'minItems', at: list(minItems), beyond: list(minItems - 1) }]),
    ...(maxItems === undefined ? [] : [{ rule: 'maxItems', at: list(maxItems), beyond: list(maxItems + 1) }]),
  ];
}

/** Texts of a length, one of each kind that a pattern of the documents requires. */
function textsOf(length: number): string[] {
  const fill = (start: string, character: string, end = '') =>
    start + character.repeat(Math.max(0, length - start.length - end.length)) + end;
  const labels = Array.from({ length: Math.ceil(length / 64) }, (_, index) => 'a'.repeat(Math.min(63, length - 64 * index))).join('.');
  return [
    fill('', 'a'),
    fill('', 'A'),
    fill('', '1'),
    fill('DE11', '1'),
    fill('DE', '1'),
    fill('+', '1'),
    fill('1.', '1'),
    fill('1111111.', '1'),
    fill('111111111.', '1'),
    fill('#', 'a'),
    fill('ssh-rsa AAAA', 'A'),
    fill('https://', 'a'),
    fill('', 'a', '@b.de'),
    fill('', '0', ':/1'),
    fill('2026-11-10T12:00:00.', '1', 'Z'),
    fill('2026-11-', '1'),
    fill('00000000-0000-7000-8000-', '0'),
    fill('', 'a', '.aa'),
    labels,
  ].filter((one) => one.length === length);
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  /** The rules that a value breaks. */
  broken(value: unknown): string[];
}

function fieldsOf(
  document: Document,
  schema: unknown,
  brokenBy: (field: string, value: unknown) => readonly { path: string; keyword: string }[],
): Field[] {
  return Object.entries<unknown>(Object(resolved(document, schema)['properties'])).map(([name, field]) => ({
    name,
    schema: resolved(document, field),
    broken: (value) =>
      mistakesOf([...brokenBy(name, value)].map((issue) => ({ ...issue, message: '', params: {}, schemaPath: '' })))
        .filter(({ path }) => path === `/${name}`)
        .map(({ keyword }) => keyword),
  }));
}

const resellerForms = apiOperations.flatMap(({ id, operation, checkForm }) => {
  if (!checkForm) return [];
  // The values of a form are texts, also numbers.
  const fields = fieldsOf(resellerDocument, operation.form?.schema, (field, value) => {
    const bytes = new TextEncoder().encode(new URLSearchParams({ [field]: String(value) }).toString());
    const { values, issues } = readForm(operation, bytes);
    return [...issues, ...checkForm(values)];
  });
  return fields.map((field) => ({ id, ...field }));
});
const operatorBodies = operatorApi.flatMap(({ id, operation, checkBody }) => {
  if (!checkBody) return [];
  const item = operation.pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/'))
    .reduce<unknown>((value, name) => Object(value)[name], operatorDocument);
  const body = resolved(operatorDocument, Object(item).requestBody);
  const { schema } = Object(body['content'])['application/json'];
  return fieldsOf(operatorDocument, schema, (field, value) => checkBody({ [field]: value })).map((field) => ({ id, ...field }));
});
describe.each([
  ['reseller', resellerForms, 50],
  ['operator', operatorBodies, 80],
] as const)('the %s API', (_, fields, least) => {
  const bounded = fields.flatMap(({ id, name, schema, broken }) => boundsOf(schema).map((bound) => ({ id, name, broken, ...bound })));

  test('has fields with bounds', () => expect(bounded.length).toBeGreaterThan(least));

  const byOperation = [...Map.groupBy(bounded, ({ id }) => id)];

  test.each(byOperation)(
    '%s accepts the value at each bound of its fields, and refuses the next one by the rule of the bound',
    (__, bounds) => {
      const found = bounds.map(({ name, rule, at, beyond, broken }) => ({
        name,
        rule,
        at: at === undefined ? [] : broken(at),
        beyond: beyond === undefined ? [rule] : broken(beyond),
      }));
      expect(found).toEqual(bounds.map(({ name, rule }) => ({ name, rule, at: [], beyond: [rule] })));
    },
  );

  test('has a value at each bound, except where other rules of the field leave none', () => {
    const without = bounded.filter(({ at }) => at === undefined).map(({ id, name, rule }) => `${id} ${name} ${rule}`);
    expect(without.filter((bound) => !UNREACHABLE.has(bound))).toEqual([]);
  });
});
