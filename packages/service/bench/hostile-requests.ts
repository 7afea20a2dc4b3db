/** Requests of up to 64 kB that take long if a part of the work for a request is not bounded. */
import { readOperations } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import resellerDocument from '@reseller/openapi/service.json' with { type: 'json' };

export interface HostileRequest {
  readonly name: string;
  readonly api: 'reseller' | 'operator';
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const BODY_BYTES = 65_000;
/** The limit of all headers, less room for the usual ones. */
const HEADER_BYTES = 15_000;

function filled(text: string, length = BODY_BYTES): string {
  return text.repeat(Math.floor(length / Buffer.byteLength(text)));
}

/** Values of one field, as they are in a form. */
const VALUES: readonly (readonly [string, string])[] = [
  ['letters and a control character', `${filled('a')}%01`],
  ['spaces', filled('+')],
  ['plus signs in a key', `ssh-rsa+AAAA${filled('%2B')}%01`],
  ['slashes in a key', `ssh-rsa+AAAA${filled('/')}%01`],
  ['labels', filled('a.')],
  ['digits', filled('9')],
  ['percent signs', filled('%25')],
  ['percent signs of many levels', filled('%252525')],
  ['backslashes', filled('%5C')],
  ['secrets', filled('authcode%3Dx%26')],
  ['short assignments', filled('a%3Db%26')],
  ['quotes', filled('a%3D%22%5C')],
  ['at signs', filled('a@')],
  ['four-byte characters', filled('%F0%9F%98%80')],
  ['JSON', filled('%7B%22a%22%3A')],
];

/** Whole forms. */
const FORMS: readonly (readonly [string, string])[] = [
  ['many fields', filled('abc=1&')],
  ['separators', filled('&')],
  ['the same field', filled('cores=1&')],
  ['long names of fields', `${'n'.repeat(4_000)}=1&`.repeat(16)],
  ['one long name', filled('n')],
  ['one long name with secrets', filled('authcode_')],
  ['unknown fields with secrets', Array.from({ length: 12 }, (_, index) => `f${index}=${filled('authcode%3Dx%26', 5_000)}`).join('&')],
  ['broken percent-encoding', filled('%zz')],
  ['JSON', filled('{"a":')],
];

/** Values of one property, as JSON. */
const JSON_VALUES: readonly (readonly [string, string])[] = [
  ['letters', `"${filled('a')}\\u0001"`],
  ['spaces', `"${filled(' ')}"`],
  ['labels', `"${filled('a.')}"`],
  ['digits', filled('9', 60_000)],
  ['digits in a text', `"${filled('9')}"`],
  ['colons', `"${filled('1:')}"`],
  ['texts in a list', `[${filled('"",', 12_000)}""]`],
  ['objects in a list', `[${filled('{},', 12_000)}{}]`],
  ['objects with unknown properties in a list', `[${filled('{"a":1},', 32_000)}{}]`],
  ['unknown properties', `{${Array.from({ length: 4_000 }, (_, index) => `"${index}":1`).join()}}`],
  ['lists in lists', filled('[')],
  ['a list of many numbers', `[${filled('1,')}1]`],
];

/** Every operation of both APIs with every kind of hostile form. */
export function hostileRequests(): readonly HostileRequest[] {
  return [
    ...readOperations(resellerDocument).flatMap((operation) => [...ofReseller(operation), ...ofAny(operation, 'reseller')]),
    ...readOperations(operatorDocument).flatMap((operation) => [...ofOperator(operation), ...ofAny(operation, 'operator')]),
  ];
}

function ofReseller({ id, method, path, form }: Operation): readonly HostileRequest[] {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  function request(name: string, body: string): HostileRequest {
    return {
      name: `${id}, ${name}`,
      api: 'reseller',
      method,
      path: withParameters(path),
      headers,
      body: body.slice(0, BODY_BYTES),
    };
  }
  if (method === 'GET') return [];
  const fields = form ? [...form.fields.keys()] : ['unknown'];
  return [
    ...FORMS.map(([name, body]) => request(name, body)),
    ...fields.flatMap((field) => VALUES.map(([name, value]) => request(`${field} of ${name}`, `${field}=${value}`))),
  ];
}

function ofOperator({ id, method, path, form }: Operation): readonly HostileRequest[] {
  if (!form) return [];
  const headers = { 'content-type': 'application/json' };
  return [...form.fields.keys()].flatMap((property) =>
    JSON_VALUES.map(([name, value]) => ({
      name: `${id}, ${property} of ${name}`,
      api: 'operator' as const,
      method,
      path: withParameters(path),
      headers,
      body: `{${JSON.stringify(property)}:${value}}`,
    })),
  );
}

/** Requests that are refused in every operation, so that none of them resets a sandbox. */
function ofAny({ id, method, path }: Operation, api: HostileRequest['api']): readonly HostileRequest[] {
  const known = withParameters(path);
  function request(name: string, url: string, headers = {}): HostileRequest {
    return {
      name: `${id}, ${name}`,
      api,
      method,
      path: url,
      headers,
    };
  }
  return [
    request('many query parameters', `${known}?${filled('a=b&', HEADER_BYTES)}`),
    request('a query with secrets', `${known}?${filled('a=authcode=x&', HEADER_BYTES)}`),
    request('an unknown path', `${known}/${filled('a&authcode=', HEADER_BYTES)}`),
    ...(path.includes('{') ? [request('a long path parameter', path.replaceAll(/\{\w+\}/g, filled('%25', 3_000)))] : []),
    ...(api === 'reseller' ? [request('a long Idempotency-Key', known, { 'idempotency-key': filled('a', HEADER_BYTES) })] : []),
  ];
}

function withParameters(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000');
}
