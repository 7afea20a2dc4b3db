import { describe, expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { replaced } from '../document/replace.ts';
import type { Impact } from './change.ts';
import { diffDocuments } from './diff-documents.ts';

const order = {
  type: 'object',
  required: ['sku'],
  properties: {
    sku: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[A-Z]+$', enum: ['A', 'B'] },
    count: { type: 'integer', minimum: 1, maximum: 9, default: 1 },
    note: { type: ['string', 'null'], format: 'email' },
    pin: { type: 'string', writeOnly: true },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 5 },
    extra: { type: 'object', additionalProperties: { type: 'string' } },
    payment: { oneOf: [{ $ref: '#/components/schemas/Card' }, { $ref: '#/components/schemas/Bank' }] },
  },
};
const json = (schema: unknown): unknown => ({ 'application/json': { schema } });

/** A document with request and response bodies, parameters, headers, security and servers. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://api.example' }, { url: 'https://eu.api.example' }],
  security: [{ Token: [] }, { Key: [] }],
  paths: {
    '/orders/{id}': {
      put: {
        operationId: 'putOrder',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'dry', in: 'query', schema: { type: 'boolean' } },
          { name: 'ids', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
        ],
        requestBody: { content: { ...Object(json(order)), 'text/csv': { schema: { type: 'string' } } } },
        responses: {
          200: {
            description: 'Done.',
            headers: { 'X-Left': { required: true, schema: { type: 'integer' } } },
            content: { ...Object(json(order)), 'text/csv': { schema: { type: 'string' } } },
          },
          409: { description: 'Conflict.' },
          default: { description: 'Anything else.' },
        },
      },
    },
  },
  components: {
    securitySchemes: {
      Key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      Token: { type: 'http', scheme: 'bearer' },
      Login: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://id.example/token', scopes: { read: '', write: '' } } } },
    },
    schemas: {
      Card: { type: 'object', required: ['number'], properties: { number: { type: 'string' } } },
      Bank: { type: 'object', required: ['iban'], properties: { iban: { type: 'string' } } },
    },
  },
};

const PUT = '/paths/~1orders~1{id}/put';
const SENT = `${PUT}/requestBody/content/application~1json/schema`;
const RECEIVED = `${PUT}/responses/200/content/application~1json/schema`;

type Edit = readonly [pointer: string, value: unknown];

function changed(...edits: readonly Edit[]): OpenApiDocument {
  // Copies all objects, so that an edit of the request does not change the response.
  const copy: unknown = JSON.parse(JSON.stringify(DOCUMENT));
  return parseDocument(edits.reduce<unknown>((document, [pointer, value]) => replaced(document, pointer, value), copy));
}

function changes(...edits: readonly Edit[]): readonly string[] {
  return diffDocuments(parseDocument(DOCUMENT), changed(...edits)).map(({ impact, what }) => `${impact}: ${what}`);
}

/** Each rule for a schema as [keyword edit, impact on requests, impact on responses, sentence]. */
const SCHEMA_RULES: readonly (readonly [rule: string, at: string, value: unknown, request: Impact, response: Impact, what: string])[] = [
  ['a property becomes required', '/required', ['sku', 'count'], 'breaking', 'safe', 'count is required now'],
  ['a property becomes optional', '/required', [], 'safe', 'breaking', 'sku is optional now'],
  ['an optional property is removed', '/properties/count', undefined, 'client-breaking', 'client-breaking', 'count is gone'],
  ['a required property is removed', '/properties/sku', undefined, 'client-breaking', 'breaking', 'sku is gone'],
  ['a property is added', '/properties/more', { type: 'string' }, 'safe', 'safe', 'more is new'],
  ['further properties are refused', '/additionalProperties', false, 'breaking', 'safe', 'SUBJECT allows no further properties now'],
  ['a value of an enumeration is removed', '/properties/sku/enum', ['A'], 'breaking', 'safe', 'sku no longer lists B'],
  ['a value of an enumeration is added', '/properties/sku/enum', ['A', 'B', 'C'], 'safe', 'breaking', 'sku can be C now'],
  ['an enumeration is removed', '/properties/sku/enum', undefined, 'safe', 'breaking', 'sku can have any value now'],
  ['an enumeration is added', '/properties/note/enum', ['x'], 'breaking', 'safe', 'note is limited to x now'],
  ['a constant is added', '/properties/note/const', 'x', 'breaking', 'safe', 'note is limited to x now'],
  ['a type is no longer allowed', '/properties/count/type', 'string', 'breaking', 'safe', 'count can no longer be integer'],
  ['another type is allowed', '/properties/count/type', 'string', 'safe', 'breaking', 'count can be string now'],
  ['a type becomes narrower', '/properties/note/type', 'string', 'breaking', 'safe', 'note can no longer be null'],
  ['a type becomes wider', '/properties/count/type', ['integer', 'null'], 'safe', 'breaking', 'count can be null now'],
  ['a type is removed', '/properties/count/type', undefined, 'safe', 'breaking', 'count can be of any type now'],
  ['an integer becomes a number', '/properties/count/type', 'number', 'safe', 'breaking', 'count can be number now'],
  ['minLength grows', '/properties/sku/minLength', 2, 'breaking', 'safe', 'minLength of sku is 2 instead of 1'],
  ['minLength shrinks', '/properties/sku/minLength', 0, 'safe', 'breaking', 'minLength of sku is 0 instead of 1'],
  ['minLength is added', '/properties/note/minLength', 2, 'breaking', 'safe', 'minLength of note is 2 instead of none'],
  ['maxLength shrinks', '/properties/sku/maxLength', 5, 'breaking', 'safe', 'maxLength of sku is 5 instead of 20'],
  ['maxLength is removed', '/properties/sku/maxLength', undefined, 'safe', 'breaking', 'maxLength of sku is none instead of 20'],
  ['minimum grows', '/properties/count/minimum', 2, 'breaking', 'safe', 'minimum of count is 2 instead of 1'],
  ['maximum shrinks', '/properties/count/maximum', 5, 'breaking', 'safe', 'maximum of count is 5 instead of 9'],
  [
    'exclusiveMinimum is added',
    '/properties/count/exclusiveMinimum',
    1,
    'breaking',
    'safe',
    'exclusiveMinimum of count is 1 instead of none',
  ],
  [
    'exclusiveMaximum is added',
    '/properties/count/exclusiveMaximum',
    9,
    'breaking',
    'safe',
    'exclusiveMaximum of count is 9 instead of none',
  ],
  ['multipleOf is added', '/properties/count/multipleOf', 2, 'breaking', 'safe', 'count has the multipleOf 2 now'],
  ['minItems grows', '/properties/tags/minItems', 2, 'breaking', 'safe', 'minItems of tags is 2 instead of 1'],
  ['maxItems shrinks', '/properties/tags/maxItems', 2, 'breaking', 'safe', 'maxItems of tags is 2 instead of 5'],
  ['uniqueItems is added', '/properties/tags/uniqueItems', true, 'breaking', 'safe', 'tags must not repeat items now'],
  ['minProperties is added', '/properties/extra/minProperties', 1, 'breaking', 'safe', 'minProperties of extra is 1 instead of none'],
  ['maxProperties is added', '/properties/extra/maxProperties', 1, 'breaking', 'safe', 'maxProperties of extra is 1 instead of none'],
  ['a pattern changes', '/properties/sku/pattern', '^[a-z]+$', 'breaking', 'breaking', 'pattern of sku is ^[a-z]+$ instead of ^[A-Z]+$'],
  ['a pattern is removed', '/properties/sku/pattern', undefined, 'safe', 'breaking', 'sku no longer has the pattern ^[A-Z]+$'],
  ['a format is added', '/properties/sku/format', 'uuid', 'breaking', 'safe', 'sku has the format uuid now'],
  ['a format changes', '/properties/note/format', 'uri', 'breaking', 'breaking', 'format of note is uri instead of email'],
  ['items change', '/properties/tags/items/type', 'integer', 'breaking', 'safe', 'tags.* can no longer be string'],
  ['items are no longer described', '/properties/tags/items', undefined, 'safe', 'breaking', 'items of tags are no longer described'],
  [
    'values of a map change',
    '/properties/extra/additionalProperties/type',
    'integer',
    'breaking',
    'safe',
    'extra.* can no longer be string',
  ],
  [
    'an alternative is removed',
    '/properties/payment/oneOf',
    [{ $ref: '#/components/schemas/Card' }],
    'breaking',
    'safe',
    'payment no longer has the alternative Bank',
  ],
  [
    'an alternative is added',
    '/properties/payment/oneOf',
    [{ $ref: '#/components/schemas/Card' }, { $ref: '#/components/schemas/Bank' }, { type: 'null' }],
    'safe',
    'breaking',
    'payment can be null now',
  ],
  ['alternatives are removed', '/properties/payment/oneOf', undefined, 'safe', 'breaking', 'payment no longer has alternatives (oneOf)'],
  [
    'alternatives are added',
    '/properties/count/anyOf',
    [{ minimum: 2 }, { const: 1 }],
    'breaking',
    'safe',
    'count has alternatives (anyOf) now',
  ],
  ['a rule is added by allOf', '/properties/count/allOf', [{ minimum: 5 }], 'breaking', 'safe', 'minimum of count is 5 instead of 1'],
  ['the default changes', '/properties/count/default', 2, 'breaking', 'documentation', 'default of count is 2 instead of 1'],
  [
    'a description is added',
    '/properties/count/description',
    'How many.',
    'documentation',
    'documentation',
    'description of count changed',
  ],
];

describe.each(SCHEMA_RULES)('%s', (_, at, value, request, response, what) => {
  test('in a JSON request', () => {
    expect(changes([`${SENT}${at}`, value])).toContain(`${request}: ${what.replace('SUBJECT', 'the body')}`);
  });

  test('in a response', () => {
    expect(changes([`${RECEIVED}${at}`, value])).toContain(`${response}: ${what.replace('SUBJECT', 'the body of the response 200')}`);
  });
});

test.each<[string, readonly Edit[], string]>([
  [
    'a property is added as required',
    [
      [`${SENT}/properties/more`, {}],
      [`${SENT}/required`, ['sku', 'more']],
    ],
    'breaking: more is new and required',
  ],
  ['a property becomes readOnly in a request', [[`${SENT}/properties/count/readOnly`, true]], 'client-breaking: count is readOnly now'],
  [
    'a required property becomes writeOnly in a response',
    [[`${RECEIVED}/properties/sku/writeOnly`, true]],
    'breaking: sku is writeOnly now',
  ],
  [
    'a property is removed from a request that allows no others',
    [
      [`${SENT}/additionalProperties`, false],
      [`${SENT}/properties/count`, undefined],
    ],
    'breaking: count is gone',
  ],
  [
    'a property with a default becomes required, because a default is only an annotation',
    [[`${SENT}/required`, ['sku', 'count']]],
    'breaking: count is required now',
  ],
  [
    'a required parameter with a default is added',
    [[`${PUT}/parameters/1`, { name: 'wet', in: 'query', required: true, schema: { default: true } }]],
    'breaking: the parameter query wet is new and required',
  ],
  [
    'a header parameter is written in another case',
    [[`${PUT}/parameters/3/name`, 'x-trace']],
    'client-breaking: the parameter header x-trace was called X-Trace',
  ],
  [
    'a property becomes writeOnly in a response',
    [[`${RECEIVED}/properties/count/writeOnly`, true]],
    'client-breaking: count is writeOnly now',
  ],
  [
    'a response gets a required property that is writeOnly',
    [
      [`${RECEIVED}/required`, ['sku', 'secret']],
      [`${RECEIVED}/properties/secret`, { type: 'string', writeOnly: true }],
    ],
    'documentation: secret is new and writeOnly',
  ],
  [
    'a response loses a property that was writeOnly',
    [[`${RECEIVED}/properties/pin`, undefined]],
    'documentation: pin, which was writeOnly, is gone',
  ],
  [
    'a request gets a property that is readOnly',
    [[`${SENT}/properties/state`, { readOnly: true }]],
    'documentation: state is new and readOnly',
  ],
  [
    'a property of a request is no longer writeOnly',
    [[`${SENT}/properties/pin/writeOnly`, undefined]],
    'documentation: pin is no longer writeOnly',
  ],
  ['the body becomes required', [[`${PUT}/requestBody/required`, true]], 'breaking: the body is required now'],
  ['the body is removed', [[`${PUT}/requestBody`, undefined]], 'breaking: it no longer takes a body'],
  [
    'a media type of the request is removed',
    [[`${PUT}/requestBody/content/text~1csv`, undefined]],
    'breaking: the body can no longer be text/csv',
  ],
  ['a media type of the request is added', [[`${PUT}/requestBody/content/text~1xml`, {}]], 'safe: the body can be text/xml now'],
  [
    'the encoding of a body changes',
    [[`${PUT}/requestBody/content/application~1json/encoding`, { tags: { explode: false } }]],
    'breaking: encoding of the body changed',
  ],
  [
    'a media type of a response is removed',
    [[`${PUT}/responses/200/content/text~1csv`, undefined]],
    'breaking: the body of the response 200 can no longer be text/csv',
  ],
  [
    'a body that is not JSON changes',
    [[`${PUT}/responses/200/content/text~1csv/schema/type`, 'integer']],
    'breaking: the body of the response 200 as text/csv can be integer now',
  ],
  ['a successful response is removed', [[`${PUT}/responses/200`, undefined]], 'breaking: the response 200 is gone'],
  ['a failure is removed', [[`${PUT}/responses/409`, undefined]], 'safe: the response 409 is gone'],
  ['the default response is removed', [[`${PUT}/responses/default`, undefined]], 'breaking: the response default is gone'],
  ['a response is added', [[`${PUT}/responses/404`, { description: 'None.' }]], 'safe: the response 404 is new'],
  [
    'a response header is removed',
    [[`${PUT}/responses/200/headers`, undefined]],
    'breaking: the header X-Left of the response 200 is gone',
  ],
  [
    'a response header becomes optional',
    [[`${PUT}/responses/200/headers/X-Left/required`, false]],
    'breaking: the header X-Left of the response 200 is optional now',
  ],
  [
    'a response header changes its type',
    [[`${PUT}/responses/200/headers/X-Left/schema/type`, 'string']],
    'breaking: the header X-Left of the response 200 can be string now',
  ],
  ['an operation is removed', [['/paths/~1orders~1{id}', undefined]], 'breaking: PUT /orders/{id} is gone'],
  ['an operation is added', [['/paths/~1more', { get: { responses: {} } }]], 'safe: GET /more is new'],
  ['an operation is renamed', [[`${PUT}/operationId`, 'saveOrder']], 'client-breaking: it is called saveOrder instead of putOrder'],
  ['an operation is deprecated', [[`${PUT}/deprecated`, true]], 'documentation: its deprecated changed'],
  ['a parameter is removed', [[`${PUT}/parameters/1/name`, 'wet']], 'client-breaking: the parameter query dry is gone'],
  [
    'a required parameter is added',
    [[`${PUT}/parameters/1`, { name: 'wet', in: 'query', required: true, schema: {} }]],
    'breaking: the parameter query wet is new and required',
  ],
  ['a parameter becomes required', [[`${PUT}/parameters/1/required`, true]], 'breaking: the parameter query dry is required now'],
  [
    'a parameter changes its type',
    [[`${PUT}/parameters/1/schema/type`, 'string']],
    'breaking: the parameter query dry can no longer be boolean',
  ],
  [
    'a parameter is written in another way',
    [[`${PUT}/parameters/2/explode`, false]],
    'breaking: explode of the parameter query ids is false instead of true',
  ],
  [
    'a parameter has another style',
    [[`${PUT}/parameters/2/style`, 'pipeDelimited']],
    'breaking: style of the parameter query ids is pipeDelimited instead of form',
  ],
  ['a header parameter is removed', [[`${PUT}/parameters/3/name`, 'X-Other']], 'client-breaking: the parameter header X-Trace is gone'],
  [
    'a way to authenticate is removed',
    [['/security', [{ Token: [] }]]],
    'breaking: the API key in the header X-Key is no longer sufficient; the operation now requires bearer authentication',
  ],
  [
    'a second credential is needed',
    [['/security', [{ Token: [], Key: [] }]]],
    'breaking: bearer authentication is no longer sufficient; the operation now requires bearer authentication and the API key in the header X-Key',
  ],
  [
    'a way to authenticate is added',
    [['/security', [{ Token: [] }, { Key: [] }, { Login: ['read'] }]]],
    expect.stringMatching(/^safe: oauth2 .* is sufficient now$/),
  ],
  ['no credential is needed', [['/security', []]], 'safe: no credential is sufficient now'],
  [
    'the key is sent elsewhere',
    [['/components/securitySchemes/Key/in', 'query']],
    expect.stringContaining('breaking: the API key in the header X-Key is no longer sufficient'),
  ],
  [
    'a server is removed',
    [['/servers', [{ url: 'https://api.example' }]]],
    'breaking: the server https://eu.api.example is gone or has other variables',
  ],
  [
    'a server is added',
    [['/servers', [{ url: 'https://api.example' }, { url: 'https://eu.api.example' }, { url: 'https://us.api.example' }]]],
    'safe: the server https://us.api.example is new',
  ],
])('%s', (_, edits, expected) => {
  expect(changes(...edits)).toContainEqual(expected);
});

describe('a parameter of a path', () => {
  test('may be renamed: requests stay the same, but code changes', () => {
    const renamed = replaced(DOCUMENT, '/paths', {
      '/orders/{order}': replaced(DOCUMENT.paths['/orders/{id}'], '/put/parameters/0/name', 'order'),
    });
    expect(diffDocuments(parseDocument(DOCUMENT), parseDocument(renamed)).map(({ impact, what }) => `${impact}: ${what}`)).toEqual([
      'client-breaking: the parameter path order was called id',
    ]);
  });
});

describe('scopes', () => {
  const secured = (...scopes: readonly string[]): Edit => ['/security', [{ Login: scopes }]];

  test('that are newly required are breaking', () => {
    const found = diffDocuments(changed(secured('read')), changed(secured('read', 'write')));
    expect(found).toMatchObject([{ impact: 'breaking', what: expect.stringContaining('is no longer sufficient') }]);
  });

  test('that are no longer required are safe', () => {
    expect(diffDocuments(changed(secured('read', 'write')), changed(secured('read'))).map(({ impact }) => impact)).toEqual(['safe']);
  });
});

describe.each<[string, unknown]>([
  ['not', { const: 'x' }],
  ['if', { const: 'x' }],
  ['propertyNames', { maxLength: 3 }],
  ['dependentRequired', { sku: ['count'] }],
  ['prefixItems', [{ type: 'string' }]],
  ['contains', { const: 1 }],
])('%s', (keyword, value) => {
  const restricted = changed([`${SENT}/${keyword}`, value], [`${RECEIVED}/${keyword}`, value]);

  test('that is added refuses requests', () => {
    expect(changes([`${SENT}/${keyword}`, value])).toEqual([`breaking: the body is restricted by ${keyword} now`]);
    expect(changes([`${RECEIVED}/${keyword}`, value])).toEqual([`safe: the body of the response 200 is restricted by ${keyword} now`]);
  });

  test('that is removed allows more responses', () => {
    expect(diffDocuments(restricted, changed()).map(({ impact, what }) => `${impact}: ${what}`)).toEqual([
      `breaking: the body of the response 200 is no longer restricted by ${keyword}`,
      `safe: the body is no longer restricted by ${keyword}`,
    ]);
  });

  test('that changes is not compared', () => {
    const other = changed([`${SENT}/${keyword}`, { const: 'y' }], [`${RECEIVED}/${keyword}`, value]);
    expect(diffDocuments(restricted, other).map(({ impact }) => impact)).toEqual(['uncompared']);
  });
});

describe('reports as not compared', () => {
  test.each<[string, unknown]>([
    ['patternProperties', { '^x-': { type: 'string' } }],
    ['someday', true],
  ])('%s of a schema', (keyword, value) => {
    expect(changes([`${SENT}/${keyword}`, value])).toContain(
      `uncompared: ${keyword} of the body changed, but this program cannot compare it`,
    );
  });

  test.each<[string, Edit, string]>([
    ['webhooks', ['/webhooks', { paid: {} }], 'uncompared: webhooks changed, but this program cannot compare it'],
    ['callbacks', [`${PUT}/callbacks`, { paid: {} }], 'uncompared: callbacks changed, but this program cannot compare it'],
    [
      'an operation that cannot be read',
      [`${PUT}/parameters/0`, { $ref: '#/nowhere' }],
      expect.stringMatching(/^uncompared: putOrder cannot be read/),
    ],
  ])('%s', (_, edit, expected) => {
    expect(changes(edit)).toContainEqual(expected);
  });
});

test('ignores the order of members, names of components and inlined references', () => {
  const inlined = changed([`${SENT}/properties/payment/oneOf/0`, DOCUMENT.components.schemas.Card], [`${SENT}/required`, ['sku']]);
  expect(diffDocuments(parseDocument(DOCUMENT), inlined)).toEqual([]);
});

describe('a discriminator', () => {
  const [CARD, BANK] = ['Card', 'Bank'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const gift: Edit = ['/components/schemas/Gift', { type: 'object', required: ['number'], properties: { number: { type: 'string' } } }];
  const GIFT = { $ref: '#/components/schemas/Gift' };
  const discriminator = { propertyName: 'kind' };
  const at = (pointer: string, payment: unknown): Edit => [`${pointer}/properties/payment`, payment];

  function between(before: Edit, after: Edit): readonly string[] {
    return diffDocuments(changed(gift, before), changed(gift, after)).map(({ impact, what }) => `${impact}: ${what}`);
  }

  test.each<[string, string, readonly unknown[], object, readonly unknown[], object, readonly string[]]>([
    ['is removed', SENT, [CARD, BANK], { discriminator }, [CARD, BANK], {}, ['client-breaking: payment no longer has a discriminator']],
    [
      'loses an alternative with the shape of another one, in a request',
      SENT,
      [CARD, BANK, GIFT],
      { discriminator },
      [CARD, BANK],
      { discriminator },
      ['breaking: kind of payment can no longer be Gift'],
    ],
    [
      'gets an alternative with the shape of another one, in a response',
      RECEIVED,
      [CARD, BANK],
      { discriminator },
      [CARD, BANK, GIFT],
      { discriminator },
      ['breaking: kind of payment can be Gift now'],
    ],
    [
      'maps a value to another alternative',
      SENT,
      [CARD, BANK],
      { discriminator: { ...discriminator, mapping: { a: CARD?.$ref, b: BANK?.$ref } } },
      [CARD, BANK],
      { discriminator: { ...discriminator, mapping: { a: BANK?.$ref, b: CARD?.$ref } } },
      ['client-breaking: the discriminator of payment maps its values to other alternatives now'],
    ],
    ['stays', SENT, [CARD, BANK], { discriminator }, [CARD, BANK], { discriminator }, []],
  ])('%s', (_, pointer, before, was, after, is, expected) => {
    const found = between(at(pointer, { oneOf: before, ...was }), at(pointer, { oneOf: after, ...is }));
    expect(found.filter((one) => !one.includes('alternative '))).toEqual(expected.filter((one) => !one.includes('alternative ')));
    if (expected.length === 0) expect(found).toEqual([]);
  });
});

describe('a schema with one alternative besides null', () => {
  const listed = { type: 'string', enum: ['a', 'b'] };
  const documentWith = (request: unknown, response: unknown): OpenApiDocument =>
    parseDocument({
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      paths: {
        '/a': {
          post: {
            operationId: 'a',
            requestBody: { content: Object(json({ type: 'object', properties: { k: request } })) },
            responses: { 200: { description: 'Done.', content: json({ type: 'object', properties: { r: response } }) } },
          },
        },
      },
      components: { schemas: { K: listed } },
    });
  const K = { $ref: '#/components/schemas/K' };
  const impacts = (from: OpenApiDocument, to: OpenApiDocument) => diffDocuments(from, to).map(({ impact, what }) => `${impact}: ${what}`);

  test('says the same as the alternative, and null is what changes', () => {
    const plain = documentWith(K, { anyOf: [K] });
    const wrapped = documentWith({ oneOf: [{ type: 'null' }, K] }, K);
    expect(impacts(plain, wrapped)).toEqual(['safe: k can be null now']);
    expect(impacts(wrapped, plain)).toEqual(['breaking: k can no longer be null', 'breaking: k no longer lists null']);
    const nullable = documentWith(K, { anyOf: [{ type: 'null' }, K] });
    expect(impacts(documentWith(K, K), nullable)).toEqual(['breaking: r can be null now']);
  });

  test('is compared with several alternatives as one of them', () => {
    const one = documentWith({ oneOf: [{ type: 'null' }, K] }, K);
    const two = documentWith({ oneOf: [{ type: 'null' }, K, { type: 'integer' }] }, K);
    expect(impacts(one, two)).toEqual(['safe: k can be integer now']);
  });
});
