/** Correct responses that have no finding, and the finding that wrong ones have. */
import { parseDocument } from '@reseller/contract';
import { runContract, upgradeDocument } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { memoryJournal } from './memory-journal.ts';
import { sendJson, startServer } from './raw-server.ts';

function json(schema: unknown): unknown {
  return { 'application/json': { schema } };
}

function documentOf(paths: object, components: object = {}): unknown {
  return { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: JSON.parse(JSON.stringify(paths)), components };
}

type Headers = Readonly<Record<string, string>>;

/** Judges a service whose only operation, or the ones given, return a body. */
async function judge(document: unknown, bodies: Readonly<Record<string, unknown>>, headers: Headers = {}): Promise<Report> {
  const { url } = await startServer(({ method, path }, response) => {
    const body = bodies[path];
    if (method !== 'GET' || body === undefined) return sendJson(response, method === 'GET' ? 404 : 405, {});
    sendJson(response, 200, body, headers);
  });
  return runContract({ document: parseDocument(document), target: url });
}

function messagesOf({ findings }: Report): readonly string[] {
  return findings.filter(({ verdict }) => verdict === 'violation').map(({ check, message }) => `${check}: ${message}`);
}

const HEADERS = {
  'X-Word': { schema: { type: 'string', minLength: 3 } },
  'X-Whole': { schema: { type: 'integer', maximum: 9 } },
  'X-Ratio': { schema: { type: 'number' } },
  'X-Flag': { schema: { type: 'boolean' } },
  'X-List': { schema: { type: 'array', items: { type: 'integer' }, maxItems: 3 } },
  'X-Words': { schema: { type: 'array', items: { enum: ['red', 'green'] } } },
  'X-Pair': { schema: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } },
  'X-Named': { explode: true, schema: { type: 'object', required: ['a'], properties: { a: { type: 'boolean' } } } },
  'X-Json': { content: { 'application/json': { schema: { type: 'object', required: ['a'] } } } },
  'X-Both': { schema: { type: ['integer', 'string'] } },
  'Access-Control-Allow-Credentials': { schema: { type: 'boolean' } },
};
const GOOD: Headers = {
  'x-word': '123',
  'x-whole': '7',
  'x-ratio': '0.5',
  'x-flag': 'false',
  'x-list': '1, 2,3',
  'x-words': 'red,green',
  'x-pair': 'a,1',
  'x-named': 'a=true',
  'x-json': '{"a":1}',
  'x-both': 'many',
  'access-control-allow-credentials': 'true',
};

describe('headers of every type', () => {
  const document = documentOf({
    '/a': { get: { operationId: 'getA', responses: { 200: { description: 'A.', headers: HEADERS, content: json({}) } } } },
  });

  test('are converted by schema and style', async () => {
    expect(messagesOf(await judge(document, { '/a': {} }, GOOD))).toEqual([]);
  });

  test.each([
    ['x-word', 'ab', 'the header X-Word must be at least 3 characters long', '"ab"'],
    ['x-whole', '10', 'the header X-Whole must be an integer of at most 9', '"10"'],
    ['x-ratio', 'half', 'the header X-Ratio must be a number', '"half"'],
    ['x-flag', 'yes', 'the header X-Flag must be true or false', '"yes"'],
    ['x-list', '1,2,3,4', 'the header X-List must have at most 3 items', '"1,2,3,4"'],
    ['x-words', 'red,blue', 'the header X-Words has 1, which must be one of red, green', '"red,blue"'],
    ['x-pair', 'b,1', 'the header X-Pair has a, which is required', '"b,1"'],
    ['x-named', 'a=1', 'the header X-Named has a, which must be true or false', '"a=1"'],
    ['x-json', '[]', 'the header X-Json must be an object', '"[]"'],
    ['access-control-allow-credentials', '1', 'the header Access-Control-Allow-Credentials must be true or false', '"1"'],
  ])('%s with %s is a finding that shows the value', async (name, value, message, observed) => {
    const { findings } = await judge(document, { '/a': {} }, { ...GOOD, [name]: value });
    expect(findings.filter(({ verdict }) => verdict === 'violation').map((finding) => [finding.message, finding.observed])).toEqual([
      [message, observed],
    ]);
  });

  test('show their values in the report, except for secrets', async () => {
    const secret = { 'X-Access-Token': { schema: { type: 'string' } }, 'X-Author': { schema: { type: 'string' } } };
    const one = documentOf({
      '/a': {
        get: { operationId: 'getA', responses: { 200: { description: 'A.', headers: { ...HEADERS, ...secret }, content: json({}) } } },
      },
    });
    const { traffic } = await judge(one, { '/a': {} }, { ...GOOD, 'x-access-token': 'abc123secret', 'x-author': 'Ann' });
    expect(traffic[0]?.responseHeaders).toMatchObject({
      'access-control-allow-credentials': 'true',
      'x-access-token': '***',
      'x-author': 'Ann',
    });
  });
});

describe('a wrong body', () => {
  const thing = {
    type: 'object',
    required: ['id', 'size'],
    properties: { id: { type: 'string' }, size: { type: 'integer' }, message: { type: 'string' } },
  };

  test('that also fits the schema of a failure is not called a failure', async () => {
    const responses = {
      200: { description: 'A.', content: json(thing) },
      400: { description: 'Bad.', content: json({ type: 'object', properties: { message: { type: 'string' } } }) },
    };
    const report = await judge(documentOf({ '/a': { get: { operationId: 'getA', responses } } }), { '/a': { id: 'x', size: '4' } });
    expect(messagesOf(report)).toEqual(['property-type: /size must be an integer']);
  });

  test('that is a failure is called one, and what does not follow from that is listed too', async () => {
    const failure = { type: 'object', required: ['error'], properties: { error: { type: 'string' } } };
    const headers = { 'X-Whole': HEADERS['X-Whole'] };
    const responses = { 200: { description: 'A.', headers, content: json(thing) }, 400: { description: 'Bad.', content: json(failure) } };
    const document = documentOf({ '/a': { get: { operationId: 'getA', responses } } });
    expect(messagesOf(await judge(document, { '/a': { error: 'no' } }, { 'x-whole': '10' }))).toEqual([
      'header-present: the header X-Whole must be an integer of at most 9',
      'status-agrees: the HTTP status says success, but the body says the opposite',
    ]);
  });
});

describe('an alternative', () => {
  const components = {
    schemas: {
      Cat: { type: 'object', required: ['kind', 'lives'], properties: { kind: { const: 'cat' }, lives: { type: 'integer' } } },
      Dog: { type: 'object', required: ['kind', 'name'], properties: { kind: { const: 'dog' }, name: { type: 'string' } } },
    },
  };
  const pet = {
    oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
    discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' } },
  };
  const document = documentOf(
    { '/a': { get: { operationId: 'getA', 'x-provenance': 'inferred', responses: { 200: { description: 'A.', content: json(pet) } } } } },
    components,
  );

  test('that the data selects is named with the missing property, and only it is proposed to change', async () => {
    const { findings } = await judge(document, { '/a': { kind: 'dog' } });
    expect(findings.filter(({ verdict }) => verdict !== 'unverified').map(({ message, at }) => [message, at])).toEqual([
      ['/name is required (kind is "dog")', '/components/schemas/Dog/required'],
    ]);
    const places = findings.flatMap(({ proposals }) => proposals.map(({ at }) => at));
    expect(places).toEqual(['/components/schemas/Dog/required']);
  });

  test('that the data selects through allOf is named too', async () => {
    const base = { type: 'object', required: ['kind'], properties: { kind: { enum: ['cat'] } } };
    const cat = { allOf: [{ $ref: '#/components/schemas/Base' }, { type: 'object', required: ['lives'] }] };
    const dog = { allOf: [{ type: 'object', required: ['kind', 'name'], properties: { kind: { enum: ['dog'] } } }] };
    const oneOf = [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }];
    const one = documentOf(
      { '/a': { get: { operationId: 'getA', responses: { 200: { description: 'A.', content: json({ oneOf }) } } } } },
      { schemas: { Base: base, Cat: cat, Dog: dog } },
    );
    expect(messagesOf(await judge(one, { '/a': { kind: 'dog' } }))).toEqual(['property-required: /name is required']);
    expect(messagesOf(await judge(one, { '/a': { kind: 'cat' } }))).toEqual(['property-required: /lives is required']);
  });

  test('does not add the rules of others to a value that matches several', async () => {
    const oneOf = [
      { type: 'object', required: ['lives'], properties: { kind: { enum: ['cat'] } } },
      { type: 'object', required: ['id'] },
      { type: 'object', required: ['id'], properties: { kind: { type: 'string' } } },
    ];
    const one = documentOf({ '/a': { get: { operationId: 'getA', responses: { 200: { description: 'A.', content: json({ oneOf }) } } } } });
    expect(messagesOf(await judge(one, { '/a': { id: 1, kind: 'dog' } }))).toEqual([
      'value-allowed: the body must match exactly one of the alternatives, but matches several',
    ]);
  });

  test('that the document does not have is reported by its discriminator', async () => {
    const { findings } = await judge(document, { '/a': { kind: 'bird' } });
    expect(findings.filter(({ verdict }) => verdict !== 'unverified').map(({ message }) => message)).toEqual([
      '/kind must be one of cat, dog',
    ]);
  });

  test('that a constant selects without a discriminator is named too', async () => {
    const { discriminator: _, ...plain } = pet;
    const one = documentOf(
      { '/a': { get: { operationId: 'getA', responses: { 200: { description: 'A.', content: json(plain) } } } } },
      components,
    );
    expect(messagesOf(await judge(one, { '/a': { kind: 'cat', lives: 'nine' } }))).toEqual(['property-type: /lives must be an integer']);
  });
});

const IDENTIFIER = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

describe('one cause is one finding', () => {
  const names = ['a', 'b', 'c', 'd'];

  test('for relative references in place of URIs, but not together with other texts', async () => {
    const links = Object.fromEntries([...names, 'other'].map((name) => [name, { type: 'string', format: 'uri' }]));
    const paths = Object.fromEntries(
      names.map((name) => [
        `/${name}`,
        {
          get: {
            operationId: `get_${name}`,
            responses: { 200: { description: 'A.', content: json({ type: 'object', properties: links }) } },
          },
        },
      ]),
    );
    const body = { ...Object.fromEntries(names.map((name) => [name, `/relative/${name}`])), other: 'https://[' };
    const report = await judge(documentOf(paths), Object.fromEntries(names.map((name) => [`/${name}`, body])));
    expect(report.findings.filter(({ check }) => check === 'property-format')).toHaveLength(1 + 1);
  });

  const operation = (id: string, schema: unknown) => ({
    get: { operationId: id, responses: { 200: { description: 'A.', content: json(schema) } } },
  });
  const text = { type: 'string' };
  const discovered = ({ findings }: Report) => findings.filter(({ verdict }) => verdict === 'discovered' || verdict === 'violation');

  test.each([2, 3, 4_253])('for a map of %i keys that the document shows by example keys', async (size) => {
    const map = { type: 'object', properties: { varname1: { type: 'number' }, varname2: { type: 'number' } } };
    const body = Object.fromEntries(Array.from({ length: size }, (_, index) => [`key_${index}`, index]));
    const report = await judge(documentOf({ '/a': operation('a', { type: 'object', properties: { variables: map } }) }), {
      '/a': { variables: body },
    });
    expect(discovered(report).map(({ check, message, observed }) => [check, message, observed])).toEqual([
      [
        'property-described',
        'the document describes example keys of a map as properties (varname1, varname2)',
        `${size} other keys, each with integer`,
      ],
    ]);
  });

  test('for a map with missing values and numbers of several kinds', async () => {
    const map = { type: 'object', properties: { varname1: { type: 'number' } } };
    const body = { 'cpu.green': null, 'cpu.user': 1.5, 'cpu.every': 1 };
    const report = await judge(documentOf({ '/a': operation('a', map) }), { '/a': body });
    expect(discovered(report).map(({ observed }) => observed)).toEqual(['3 other keys, each with number']);
  });

  test('for undescribed properties next to a described one: each is a finding', async () => {
    const report = await judge(documentOf({ '/a': operation('a', { type: 'object', properties: { known: text } }) }), {
      '/a': { known: 'x', one: 'x', two: 'x' },
    });
    expect(discovered(report).map(({ message }) => message)).toEqual([
      'the document does not describe the property one',
      'the document does not describe the property two',
    ]);
  });

  test('for a property that identical inlined schemas of several operations lack', async () => {
    const schema = { type: 'object', properties: { known: text } };
    const paths = Object.fromEntries(names.map((name) => [`/${name}`, operation(name, schema)]));
    const other = operation('other', { type: 'object', properties: { known: text, more: text } });
    const bodies = Object.fromEntries([...names, 'other'].map((name) => [`/${name}`, { known: 'x', details: [] }]));
    const found = discovered(await judge(documentOf({ ...paths, '/other': other }), bodies));
    expect(found.map(({ touches }) => touches.map((touch) => touch.operation))).toEqual([names, ['other']]);
  });

  test('for a property that a closed schema forbids', async () => {
    const schema = { type: 'object', additionalProperties: false, properties: { known: text } };
    const report = await judge(documentOf({ '/a': operation('a', schema) }), { '/a': { known: 'x', extra: 1 } });
    expect(discovered(report).map(({ check, verdict }) => [check, verdict])).toEqual([['value-allowed', 'violation']]);
  });

  test('for all properties that a closed schema forbids', async () => {
    const schema = { type: 'object', additionalProperties: false, properties: { known: text } };
    const found = discovered(await judge(documentOf({ '/a': operation('a', schema) }), { '/a': { known: 'x', one: 1, two: 2 } }));
    expect(found.map(({ message, expected, observed }) => [message, expected, observed])).toEqual([
      ['the body has properties that the document forbids', 'only known', 'one, two'],
    ]);
  });

  test('for inlined schemas that differ only in their examples', async () => {
    const schema = (name: string) => ({ type: 'object', properties: { known: { ...text, example: name, description: name } } });
    const paths = Object.fromEntries(names.map((name) => [`/${name}`, operation(name, schema(name))]));
    const report = await judge(documentOf(paths), Object.fromEntries(names.map((name) => [`/${name}`, { known: 'x', details: [] }])));
    expect(discovered(report).map(({ touches }) => touches.length)).toEqual([names.length]);
  });

  test('for a parameter whose list of values is not checked, whichever values show it', async () => {
    const parameters = [{ name: 'sort', in: 'query', schema: { type: 'string', enum: ['name', 'size'] } }];
    const get = { operationId: 'a', parameters, responses: { 200: { description: 'A.', content: json({}) }, 400: { description: 'B.' } } };
    const { url } = await startServer((_, response) => sendJson(response, 200, {}));
    const { findings } = await runContract({
      document: parseDocument(documentOf({ '/a': { get } })),
      target: url,
      mode: 'full',
      journal: memoryJournal(),
    });
    expect(findings.filter(({ check }) => check === 'parameter-refused').map(({ touches }) => touches[0]?.times)).toEqual([2]);
  });

  test('for a service that takes numbers as texts', async () => {
    const schema = { type: 'object', required: names, properties: Object.fromEntries(names.map((name) => [name, text])) };
    const item = {
      '/things/{id}': { delete: { operationId: 'remove', parameters: [IDENTIFIER], responses: { 204: { description: 'A.' } } } },
    };
    const post = {
      operationId: 'make',
      requestBody: { content: json(schema) },
      responses: { 201: { description: 'A.' }, 400: { description: 'B.' } },
    };
    const { url } = await startServer(({ method, body }, response) => {
      const given: unknown = method === 'POST' ? JSON.parse(body || '{}') : {};
      const isValid = names.every((name) => ['string', 'number'].includes(typeof Object(given)[name]));
      sendJson(response, method === 'DELETE' ? 204 : isValid ? 201 : 400, isValid ? { id: 7 } : {});
    });
    const options = {
      document: parseDocument(documentOf({ '/things': { post }, ...item })),
      target: url,
      mode: 'full',
      journal: memoryJournal(),
    } as const;
    const { findings } = await runContract(options);
    expect(findings.filter(({ check }) => check === 'form-refused').map(({ message, samples }) => [message, samples.length])).toEqual([
      ['the service accepts an invalid body: a number instead of a text', 3],
    ]);
  });

  test('for a list where the document has an object', async () => {
    const report = await judge(documentOf({ '/a': operation('a', { type: 'object', properties: { known: text } }) }), {
      '/a': [{ known: 'x' }],
    });
    expect(discovered(report).map(({ check }) => check)).toEqual(['property-type']);
  });

  test('for a header that is wrong everywhere', async () => {
    const responses = { 200: { description: 'A.', headers: { 'X-Flag': HEADERS['X-Flag'] }, content: json({}) } };
    const paths = Object.fromEntries(names.map((name) => [`/${name}`, { get: { operationId: `get_${name}`, responses } }]));
    const { findings } = await judge(documentOf(paths), Object.fromEntries(names.map((name) => [`/${name}`, {}])), { 'x-flag': 'null' });
    expect(findings.filter(({ check }) => check === 'header-present').map(({ touches }) => touches.length)).toEqual([names.length]);
  });

  test('for unknown identifiers', async () => {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
    const paths = Object.fromEntries(
      names.map((name) => [
        `/${name}/{id}`,
        {
          parameters,
          get: { operationId: `get_${name}`, responses: { 200: { description: 'A.', content: json({}) }, 404: { description: 'None.' } } },
        },
      ]),
    );
    const { url } = await startServer((_, response) => sendJson(response, 200, {}));
    const { findings } = await runContract({ document: parseDocument(documentOf(paths)), target: url });
    const unknown = findings.filter(({ check }) => check === 'identifier-unknown');
    expect(unknown.map(({ touches }) => touches.length)).toEqual([names.length]);
  });
});

describe('a service that a document of another kind describes', () => {
  const OBJECT = json({ type: 'object' });
  function value(name: string, schema: object, example: unknown): object {
    return { name, in: 'path', required: true, schema, example };
  }
  const YEAR = value('year', { type: 'integer' }, 2026);

  async function judged(paths: object, answer: (path: string) => readonly [number, unknown], more: object = {}): Promise<Report> {
    const { url } = await startServer(({ path, method }, response) => {
      const [status, body] = method !== 'GET' || path.endsWith('/all') ? [405, {}] : path.endsWith('/many') ? [404, {}] : answer(path);
      sendJson(response, status, body);
    });
    const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: JSON.parse(JSON.stringify(paths)), ...more };
    return runContract({ document: upgradeDocument(document).document, target: url });
  }
  function found({ findings }: Report): readonly string[] {
    return findings.filter(({ verdict }) => verdict !== 'unverified').map(({ check, verdict }) => `${check} ${verdict}`);
  }

  test.each<[string, string, readonly object[]]>([
    ['a year', '/calendar/{year}', [YEAR]],
    ['a name', '/greet/{name}', [value('name', { type: 'string' }, 'Ann')]],
    ['a range', '/range/{from}-{to}', [value('from', { type: 'integer' }, 1), value('to', { type: 'integer' }, 9)]],
  ])('knows each value of a path that names %s and no thing', async (_, path, parameters) => {
    const responses = { 200: { description: 'Fine.', content: OBJECT }, 404: { description: 'None.' } };
    const report = await judged({ [path]: { get: { operationId: 'getIt', parameters, responses } } }, () => [200, {}]);
    expect(found(report)).toEqual([]);
    expect(report.coverage).toMatchObject([{ verdict: 'passed' }]);
  });

  test.each<[string, object]>([
    ['the document lists its collection', { '/calendar': { get: { responses: { 200: { description: 'Fine.', content: OBJECT } } } } }],
    [
      'the document removes one',
      { '/calendar/{year}/all': { delete: { parameters: [YEAR], responses: { 204: { description: 'Gone.' } } } } },
    ],
  ])('must not know each value of a path if %s', async (_, more) => {
    const responses = { 200: { description: 'Fine.', content: OBJECT }, 404: { description: 'None.' } };
    const path = { '/calendar/{year}': { get: { operationId: 'getIt', parameters: [YEAR], responses } } };
    expect(found(await judged({ ...path, ...more }, () => [200, {}]))).toEqual(['identifier-unknown violation']);
  });

  test.each(['Range', 'If-None-Match', 'If-Modified-Since', 'Accept-Language', 'Prefer'])(
    'may ignore an invalid header %s',
    async (name) => {
      const parameters = [{ name, in: 'header', schema: { type: 'string', pattern: '^good$' } }];
      const paths = { '/a': { get: { parameters, responses: { 200: { description: 'Fine.', content: OBJECT } } } } };
      expect(found(await judged(paths, () => [200, {}]))).toEqual([]);
    },
  );

  test('must refuse an invalid header of its own', async () => {
    const parameters = [{ name: 'X-Level', in: 'header', schema: { type: 'string', pattern: '^good$' } }];
    const paths = { '/a': { get: { parameters, responses: { 200: { description: 'Fine.', content: OBJECT } } } } };
    expect(found(await judged(paths, () => [200, {}]))).toEqual(['parameter-refused violation']);
  });

  test.each(['oneOf', 'anyOf', 'allOf'])('of OpenAPI 3.0 may send null where nullable is next to %s', async (keyword) => {
    const property = { nullable: true, [keyword]: [{ $ref: '#/components/schemas/R' }] };
    const schema = { type: 'object', properties: { a: property, b: { [keyword]: [{ $ref: '#/components/schemas/R' }] } } };
    const paths = { '/a': { get: { responses: { 200: { description: 'Fine.', content: json(schema) } } } } };
    const more = { openapi: '3.0.3', components: { schemas: { R: { type: 'object', properties: { z: { type: 'integer' } } } } } };
    expect(found(await judged(paths, () => [200, { a: null, b: {} }], more))).toEqual([]);
    expect(found(await judged(paths, () => [200, { a: { z: 'x' }, b: {} }], more))).toHaveLength(1);
    expect(found(await judged(paths, () => [200, { a: null, b: null }], more))).toHaveLength(1);
  });

  test('is not called for an operation that has a server of its own', async () => {
    const responses = { 200: { description: 'Fine.', content: OBJECT } };
    const servers = [{ url: 'https://uploads.example.com' }];
    const shared = [{ url: 'https://api.example.com' }];
    const paths = {
      '/a': { get: { operationId: 'own', servers, responses } },
      '/b': { servers, get: { operationId: 'ofPath', responses } },
      '/c': { get: { operationId: 'same', servers: shared, responses } },
    };
    const { coverage } = await judged(paths, () => [200, {}], { servers: shared });
    expect(coverage.map(({ operation, requests, reason }) => [operation, requests, reason])).toEqual([
      ['own', 0, 'the document gives it a server of its own (https://uploads.example.com), and a run calls only its target'],
      ['ofPath', 0, 'the document gives it a server of its own (https://uploads.example.com), and a run calls only its target'],
      ['same', 1, ''],
    ]);
  });

  test('may send an e-mail address whose local part is in quotes', async () => {
    const schema = { type: 'object', properties: { mail: { type: 'string', format: 'email' } } };
    const paths = { '/a': { get: { responses: { 200: { description: 'Fine.', content: json(schema) } } } } };
    for (const mail of ['"quoted user"@example.com', '"a\\"b"@example.com', 'plain@example.com'])
      expect(found(await judged(paths, () => [200, { mail }]))).toEqual([]);
    for (const mail of ['quoted user@example.com', '"open@example.com', '"a"b"@example.com', '"a"@'])
      expect(found(await judged(paths, () => [200, { mail }]))).toEqual(['property-format violation']);
  });
});
