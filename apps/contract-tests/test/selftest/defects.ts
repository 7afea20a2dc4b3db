import { keysOf, pointerTokens } from '@reseller/contract';
import { isSuccess, pagingOf } from '@reseller/contract/engine';
import type { Place } from '@reseller/contract/engine';

import { returnsCode } from '../../src/one-time-codes/codes.ts';
import type { Defect } from './defect.ts';
import { alterFirst, dropFirst, isObject, isPayload, refusalLike, tamperEnvelope, withMembers } from './tamper.ts';

type Node = Place['nodes'][number];

function hasDecimals({ schema: { multipleOf } }: Node): boolean {
  return typeof multipleOf === 'number' && !Number.isInteger(multipleOf);
}

function isOpenEnumeration({ schema }: Node): boolean {
  return schema['x-seen'] === true && Array.isArray(schema['enum']);
}

function isOptional({ name, parents }: Place): boolean {
  const isNamed = parents.some(({ schema }) => keysOf(schema, 'properties').includes(name));
  return isNamed && !parents.some(({ schema }) => Array.isArray(schema['required']) && schema['required'].includes(name));
}

function typesOf(nodes: readonly Node[]): ReadonlySet<unknown> {
  return new Set(nodes.flatMap(({ schema }) => schema['type'] ?? []));
}

/** The defects of the selftest, each with the check that finds it. Every check has at least one. */
export const SELFTEST_DEFECTS: readonly Defect[] = [
  {
    check: 'accept-honoured',
    description: 'The service returns JSON, whatever the request accepts.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' && response.headers['content-type'] === 'text/csv'
        ? { ...response, headers: { ...response.headers, 'content-type': 'application/json' }, body: { lines: [] } }
        : undefined,
  },
  {
    check: 'value-allowed',
    description: 'An amount has more decimals than described.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && typeof place.value === 'number' && place.nodes.some(hasDecimals),
        ({ value, nodes }) => Number(value) + Number(nodes.find(hasDecimals)?.schema['multipleOf']) / 8,
      ),
  },
  {
    check: 'body-complete',
    description: 'The connection closes before the body is complete.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.readOnly === true ? { ...response, isCut: true } : undefined,
  },
  {
    check: 'body-readable',
    description: 'The body is a sign-in page although the content type is JSON.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' ? { ...response, body: '<html><body>Please sign in</body></html>' } : undefined,
  },
  {
    check: 'content-type-documented',
    description: 'JSON has the content type text/html.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' ? { ...response, headers: { ...response.headers, 'content-type': 'text/html' } } : undefined,
  },
  {
    check: 'credential-echoed',
    description: 'A header of the response repeats the API key.',
    tamper: ({ outcome, operation, response, credential }) =>
      outcome === 'success' && operation?.readOnly === true && credential !== undefined
        ? { ...response, headers: { ...response.headers, via: `1.1 ${credential}` } }
        : undefined,
  },
  {
    check: 'property-type',
    description: 'A failure has data that the document does not describe.',
    tamper: ({ outcome, response }) =>
      outcome === 'unauthorized' ? { ...response, body: { ...Object(response.body), data: { trace: 'at line 42' } } } : undefined,
  },
  {
    check: 'envelope-kept',
    description: 'A gateway responds with 418 and plain text instead of the envelope.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.readOnly === true
        ? { status: 418, headers: { ...response.headers, 'content-type': 'text/plain' }, body: 'short and stout' }
        : undefined,
  },
  {
    check: 'form-accepted',
    description: 'The service refuses a valid form.',
    tamper: ({ outcome, form, operation, response }) => {
      const example = Object.values(operation?.responses['422']?.content['application/json']?.examples ?? {})[0]?.value;
      return outcome === 'success' && form !== undefined && operation?.readOnly === true && example !== undefined
        ? refusalLike(response, 422, example)
        : undefined;
    },
  },
  {
    check: 'form-refused',
    description: 'The service does not validate forms.',
    tamper: ({ outcome, success }) => (outcome === 'invalid-form' ? success() : undefined),
  },
  {
    check: 'header-described',
    description: 'Responses have an undescribed rate limit header.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' ? { ...response, headers: { ...response.headers, 'x-requests-left': '41' } } : undefined,
  },
  {
    check: 'header-present',
    description: 'A header that is a number has a word.',
    tamper: ({ outcome, operation, response }) => {
      const described = Object.values(operation?.responses[String(response.status)]?.headers ?? {});
      const headers = Object.fromEntries(described.map(({ name }) => [name.toLowerCase(), 'soon']));
      return outcome === 'success' && described.length > 0 ? { ...response, headers: { ...response.headers, ...headers } } : undefined;
    },
  },
  {
    check: 'part-seen',
    description: 'The service never sends a described header.',
    tamper: ({ operation, outcome, response }) => {
      const names = Object.keys(operation?.responses[String(response.status)]?.headers ?? {});
      if (outcome !== 'success' || names.length === 0) return undefined;
      return { ...response, headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => !names.includes(name))) };
    },
  },
  {
    check: 'identifier-unknown',
    description: 'The service accepts every identifier.',
    tamper: ({ outcome, success }) => (outcome === 'unknown-id' ? success() : undefined),
  },
  {
    check: 'json-unambiguous',
    description: 'A member appears twice in its object.',
    tamper: ({ outcome, operation, response }) => {
      const [entry] = outcome === 'success' && operation?.readOnly === true ? Object.entries(Object(response.body)) : [];
      if (entry === undefined) return undefined;
      const [name, value] = [JSON.stringify(entry[0]), JSON.stringify(entry[1])];
      return { ...response, body: `{${name}:${value},${JSON.stringify(response.body).slice(1)}` };
    },
  },
  {
    check: 'key-checked',
    description: 'The service accepts any key.',
    tamper: ({ outcome, key, operation, success }) =>
      outcome === 'unauthorized' && key === 'wrong' && operation?.readOnly === true ? success() : undefined,
  },
  {
    check: 'key-required',
    description: 'The service accepts a request without a key.',
    tamper: ({ outcome, key, operation, success }) =>
      outcome === 'unauthorized' && key === 'none' && operation?.readOnly === true ? success() : undefined,
  },
  {
    check: 'login-redirect',
    description: 'The service redirects a request with a valid key to a login page.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.readOnly === true
        ? { status: 302, headers: { ...response.headers, location: '/login?next=%2F' }, body: '' }
        : undefined,
  },
  {
    check: 'method-refused',
    description: 'GET succeeds on a path for which the document describes only other methods.',
    tamper: ({ outcome, response }) =>
      outcome === 'wrong-method'
        ? { ...response, status: 200, body: { status: 'success', requestID: null, message: '', data: null } }
        : undefined,
  },
  {
    check: 'operation-described',
    description: 'A client uses an undescribed operation.',
    tamper: () => undefined,
    undescribedPath: '/contract-test/undocumented',
  },
  {
    check: 'page-overlap',
    description: 'The service ignores the offset and always returns the first page.',
    tamper({ document, operation, outcome, form, query, success }) {
      const isPaged = operation !== undefined && pagingOf(document, operation) !== undefined;
      return outcome === 'success' && isPaged && (Object.keys(form?.values ?? {}).length > 0 || Object.keys(query).length > 0)
        ? success('first page')
        : undefined;
    },
  },
  {
    check: 'value-allowed',
    description: 'A page has 60 items.',
    tamper({ document, operation, outcome, response }) {
      const paging = operation === undefined ? undefined : pagingOf(document, operation);
      const items = paging?.itemsOf(response.body);
      if (outcome !== 'success' || paging?.size === undefined || items === undefined || items.length === 0) return undefined;
      const { size } = paging;
      return {
        ...response,
        body: paging.withItems(
          response.body,
          Array.from({ length: size + 10 }, (_, index) => items[index % items.length]),
        ),
      };
    },
  },
  {
    check: 'parameter-refused',
    description: 'The service does not validate query parameters.',
    tamper: ({ outcome, success }) => (outcome === 'invalid-parameter' ? success() : undefined),
  },
  {
    check: 'part-seen',
    description: 'The service never sends an optional property.',
    tamper: (exchange) => dropFirst(exchange, (place) => pointerTokens(place.pointer).length > 1 && isOptional(place)),
  },
  {
    check: 'precondition-kept',
    description: 'The entity tag stays the same when the resource changes.',
    tamper: ({ response }) =>
      response.headers['etag'] === undefined ? undefined : { ...response, headers: { ...response.headers, etag: '"1"' } },
  },
  {
    check: 'property-described',
    description: 'An object in the last item of a list or map has an undescribed property.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && isObject(place.value) && place.nodes.some(({ schema }) => keysOf(schema, 'properties').length > 0),
        ({ value }) => ({ ...Object(value), internalNote: 'x' }),
      ),
  },
  {
    check: 'property-direction',
    description: 'A response has the access code of the request.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.path === '/projects/{project_id}' && isObject(response.body)
        ? { ...response, body: { ...response.body, access_code: 'abcdefgh' } }
        : undefined,
  },
  {
    check: 'property-format',
    description: 'A date and time, or a UUID, is sent as a date in local notation.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) =>
          isPayload(place) &&
          typeof place.value === 'string' &&
          place.nodes.some(({ schema }) => schema['format'] === 'date-time' || schema['format'] === 'uuid'),
        () => '31.12.2026 09:30',
      ),
  },
  {
    check: 'property-null',
    description: 'The service sends null where the document does not allow it.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && typesOf(place.nodes).size > 0 && !typesOf(place.nodes).has('null'),
        () => null,
      ),
  },
  {
    check: 'property-required',
    description: 'A required property is missing.',
    tamper: (exchange) =>
      dropFirst(
        exchange,
        (place) =>
          isPayload(place) &&
          place.parents.some(({ schema }) => Array.isArray(schema['required']) && schema['required'].includes(place.name)),
      ),
  },
  {
    check: 'property-type',
    description: 'A number or a Boolean is sent as a string.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && (typeof place.value === 'number' || typeof place.value === 'boolean'),
        ({ value }) => String(value),
      ),
  },
  {
    check: 'removed-stays-removed',
    description: 'A second cancellation of the same resource succeeds.',
    tamper: ({ outcome, success }) => (outcome === 'removed' ? success() : undefined),
  },
  {
    check: 'request-described',
    description: 'A client sends an undescribed field.',
    tamper: () => undefined,
    alterForm: (form) => (form === '' || form.startsWith('{') ? undefined : `${form}&netwrok_speed=1000`),
  },
  {
    check: 'request-id-unique',
    description: 'All responses have the same identifier.',
    tamper: ({ response }) =>
      isObject(response.body) && typeof response.body['requestID'] === 'string'
        ? { ...response, body: { ...response.body, requestID: '0192f672-7daa-7a31-9c02-6de1f0a47b58' } }
        : undefined,
  },
  {
    check: 'property-null',
    description: 'The request identifier is null where the document describes only a UUID.',
    tamper: ({ response }) =>
      isSuccess(response.status) && isObject(response.body) && typeof response.body['requestID'] === 'string'
        ? { ...response, body: { ...response.body, requestID: null } }
        : undefined,
  },
  {
    check: 'server-error',
    description: 'The service fails for an identifier that does not exist.',
    tamper: ({ outcome, operation, response }) => {
      const example = Object.values(operation?.responses['500']?.content['application/json']?.examples ?? {})[0]?.value;
      return outcome === 'unknown-id' && example !== undefined ? refusalLike(response, 500, example) : undefined;
    },
  },
  {
    check: 'state-kept',
    description: 'Texts lose all characters that are not ASCII.',
    tamper: ({ method, response }) =>
      method === 'GET' && isObject(response.body) && typeof response.body['name'] === 'string'
        ? { ...response, body: { ...response.body, name: response.body['name'].replaceAll(/[^ -~]/g, '?') } }
        : undefined,
  },
  {
    check: 'status-agrees',
    description: 'A failure has the status 200.',
    tamper: (exchange) => (exchange.operation?.readOnly === true ? tamperEnvelope(exchange, 200) : undefined),
  },
  {
    check: 'status-documented',
    description: 'An operation responds with 206 where the document describes 200.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.readOnly === true ? { ...response, status: 206 } : undefined,
  },
  {
    check: 'value-allowed',
    description: 'A constant has another value.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        ({ nodes }) => nodes.some(({ schema }) => typeof schema['const'] === 'string'),
        () => 'fine',
      ),
  },
  {
    check: 'value-seen',
    description: 'An open enumeration has a new value.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        ({ nodes, value }) => typeof value === 'string' && nodes.some(isOpenEnumeration) && exchange.operation?.readOnly === true,
        () => 'NEVER_SEEN_BEFORE',
      ),
  },
  {
    check: 'otp-rules',
    description: 'All codes are the same.',
    tamper: ({ document, operation, outcome, response }) =>
      outcome === 'success' && operation !== undefined && returnsCode(document, operation)
        ? withMembers(response, { data: { note: 'Valid for 10 minutes.', otp_code: '12345678' } })
        : undefined,
  },
];
