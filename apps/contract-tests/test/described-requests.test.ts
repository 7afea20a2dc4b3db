/** The requests that the document describes are sent: parameters of all styles, all media types of a body, conditions, ranges and pages. */
import { parseDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { memoryJournal } from './memory-journal.ts';
import { sendJson, startServer } from './raw-server.ts';
import type { RawServer, ReceivedRequest } from './raw-server.ts';

const TEXT = { type: 'string' };
const refused = { description: 'Refused.' };

function json(schema: unknown, headers: object = {}): object {
  return { 200: { description: 'Done.', headers, content: { 'application/json': { schema } } }, 400: refused, 415: refused, 422: refused };
}

function getWith(parameters: readonly unknown[], responses: object = json({ type: 'object' })): unknown {
  return { get: { operationId: 'send', parameters, responses } };
}

function postWith(content: object): unknown {
  return { post: { operationId: 'send', requestBody: { required: true, content }, responses: json({ type: 'object' }) } };
}

async function judge(
  item: unknown,
  reply: Parameters<typeof startServer>[0],
): Promise<Pick<RawServer, 'received'> & Pick<Report, 'findings' | 'coverage'>> {
  const document = parseDocument({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/send': item } });
  const { url, received } = await startServer(reply);
  const { findings, coverage } = await runContract({
    document,
    target: url,
    mode: 'full',
    also: new Map([['send', undefined]]),
    journal: memoryJournal(),
  });
  return { received, findings, coverage };
}

function brief(findings: Report['findings']): readonly string[] {
  return findings.map(({ verdict, check, message }) => `${verdict} ${check}: ${message}`).toSorted();
}

describe('a valid parameter is sent in its style', () => {
  const listed = { type: 'array', items: { enum: ['open', 'done'] } };
  const object = { type: 'object', properties: { kind: { enum: ['a'] }, size: { type: 'integer', minimum: 3 } } };
  test.each<[string, object, (request: ReceivedRequest) => unknown, unknown]>([
    ['pipes', { in: 'query', style: 'pipeDelimited', explode: false, schema: listed }, ({ query }) => query.getAll('p'), ['open|done']],
    ['spaces', { in: 'query', style: 'spaceDelimited', explode: false, schema: listed }, ({ query }) => query.getAll('p'), ['open done']],
    ['commas', { in: 'query', explode: false, schema: listed }, ({ query }) => query.getAll('p'), ['open,done']],
    ['repetition', { in: 'query', schema: listed }, ({ query }) => query.getAll('p'), ['open', 'done']],
    ['a header with a list', { in: 'header', explode: true, schema: listed }, ({ headers }) => headers['p'], 'open,done'],
    [
      'a deep object',
      { in: 'query', style: 'deepObject', schema: object },
      ({ query }) => [...query],
      [
        ['p[kind]', 'a'],
        ['p[size]', '3'],
      ],
    ],
    [
      'properties of an object',
      { in: 'query', schema: object },
      ({ query }) => [...query],
      [
        ['kind', 'a'],
        ['size', '3'],
      ],
    ],
    ['a header', { in: 'header', schema: { enum: ['id'] } }, ({ headers }) => headers['p'], 'id'],
    ['a cookie', { in: 'cookie', schema: { enum: ['dark'] } }, ({ headers }) => headers.cookie, 'p=dark'],
  ])('%s', async (_, parameter, sentAs, expected) => {
    const { received, findings } = await judge(getWith([{ name: 'p', ...parameter }]), (request, response) => {
      sendJson(response, JSON.stringify(sentAs(request)) === JSON.stringify(expected) ? 500 : 400, {});
    });
    expect(received.map(sentAs)).toContainEqual(expected);
    expect(brief(findings)).toContain('violation server-error: the service fails with 500');
  });

  test('and is unverified when the service refuses each request with it', async () => {
    const item = getWith([{ name: 'p', in: 'query', schema: { enum: ['a', 'b'] } }]);
    const { findings } = await judge(item, ({ query }, response) => sendJson(response, query.has('p') ? 400 : 200, {}));
    expect(brief(findings)).toEqual(['unverified parameter-refused: the service refuses every request with the query parameter p']);
  });

  test('except that an Idempotency-Key is not sent twice, and a cursor is never made up', async () => {
    const names = [
      { name: 'Idempotency-Key', in: 'header', schema: TEXT, example: 'a' },
      { name: 'after', in: 'query', schema: TEXT },
      { name: 'page_size', in: 'query', schema: { type: 'integer', maximum: 50 } },
    ];
    const { received } = await judge(getWith(names, json({ type: 'array', items: { type: 'object' } })), ({ query }, response) =>
      sendJson(response, Number(query.get('page_size') ?? 1) <= 50 ? 200 : 400, []),
    );
    expect(received.filter(({ query, headers }) => query.has('after') || headers['idempotency-key'] !== undefined)).toEqual([]);
    expect(received.map(({ query }) => query.toString())).toContain('page_size=50');
  });
});

describe('a header that a service may ignore', () => {
  const item = getWith(
    [
      { name: 'If-None-Match', in: 'header', schema: { ...TEXT, pattern: '^"[0-9a-f]{4}"$' } },
      { name: 'Range', in: 'header', schema: { ...TEXT, pattern: String.raw`^bytes=\d+-\d*$` }, example: 'bytes=0-3' },
    ],
    {
      ...json({ type: 'object' }, { ETag: { schema: TEXT } }),
      206: { description: 'Part.', headers: { 'Content-Range': { required: true, schema: TEXT } } },
      304: { description: 'Same.' },
    },
  );

  test('has the example and the entity tag of an earlier response, and its effect is judged', async () => {
    const { received, findings } = await judge(item, ({ headers }, response) => {
      sendJson(response, headers.range === undefined ? 200 : 206, {}, { etag: '"00ff"' });
    });
    expect(received.map(({ headers }) => headers['if-none-match'])).toContain('"00ff"');
    expect(received.map(({ headers }) => headers.range)).toContain('bytes=0-3');
    expect(brief(findings)).toEqual([
      'violation header-present: the header Content-Range is missing',
      'violation precondition-kept: the service sends the whole resource for its current entity tag',
    ]);
  });

  test('has no finding at a service that honours it, or that has no entity tags', async () => {
    const honoured = await judge(item, ({ headers }, response) => {
      const isSame = headers['if-none-match'] === '"00ff"';
      const status = isSame ? 304 : headers.range === undefined ? 200 : 206;
      sendJson(response, status, isSame ? '' : {}, { etag: '"00ff"', ...(status === 206 && { 'content-range': 'bytes 0-1/2' }) });
    });
    expect(honoured.findings).toEqual([]);
    const ignored = await judge(item, (_, response) => sendJson(response, 200, {}));
    expect(brief(ignored.findings)).toEqual(['unverified part-seen: the document describes the header ETag, but no response had it']);
  });
});

describe('the next page', () => {
  const list = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } };
  const page = [{ name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } }];
  const link = { Link: { schema: TEXT } };
  const body = { type: 'object', properties: { items: list, next: { type: ['string', 'null'], format: 'uri-reference' } } };
  const ofPage = (number: number): readonly unknown[] => (number > 3 ? [] : [{ id: 2 * number }, { id: 2 * number + 1 }]);

  test.each<[string, object, (number: number) => readonly [unknown, Readonly<Record<string, string>>]]>([
    [
      'by the header Link',
      json(list, link),
      (number) => [
        ofPage(number),
        { link: `</send?page=1>; rel="first"${number < 3 ? `, </send?page=${number + 1}>; title="a, b"; rel="next"` : ''}` },
      ],
    ],
    ['by an address in the body', json(body), (number) => [{ items: ofPage(number), next: number < 3 ? `?page=${number + 1}` : null }, {}]],
    ['by its number', json(list), (number) => [ofPage(number), {}]],
  ])('is read %s, and an overlap is found', async (_, responses, answer) => {
    const run = (isStuck: boolean) =>
      judge(getWith(page, responses), ({ query }, response) => {
        const number = Number(query.get('page') ?? 1);
        if (!(number >= 1)) return sendJson(response, 400, {});
        const [value, headers] = answer(number);
        const repeated = isStuck ? JSON.stringify(value).replaceAll(/"id":[0-9]+/g, '"id":1') : value;
        sendJson(response, 200, repeated, headers);
      });
    const good = await run(false);
    expect(brief(good.findings)).toEqual([]);
    expect(good.received.map(({ query }) => query.get('page'))).toContain('2');
    const stuck = await run(true);
    expect(brief(stuck.findings)).toEqual(['violation page-overlap: the next page repeats items of the page before']);
  });
});

describe('a body', () => {
  const schema = { type: 'object', required: ['name'], additionalProperties: false, properties: { name: TEXT } };

  test('is sent as each described type, and a refusal of a type is a violation', async () => {
    const content = { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema }, 'text/plain': { schema: TEXT } };
    const { received, findings } = await judge(postWith(content), ({ method, headers, body }, response) => {
      const type = headers['content-type'];
      if (type === 'application/json') return sendJson(response, 415, {});
      const form = new URLSearchParams(body);
      const isValid = type === 'text/plain' || (form.size === 1 && (form.get('name') ?? '') !== '');
      sendJson(response, method === 'POST' ? (isValid ? 200 : 422) : 405, {});
    });
    expect(received.find(({ headers }) => headers['content-type'] === 'text/plain')?.body).toBe('contract-test');
    expect(brief(findings)).toEqual(['violation form-accepted: the service refuses the described media type application/json']);
  });

  test('of a type that cannot be built is named', async () => {
    const content = { 'application/json': { schema: { type: 'object' } }, 'application/xml': { schema } };
    const { findings } = await judge(postWith(content), ({ method }, response) => sendJson(response, method === 'POST' ? 200 : 405, {}));
    expect(brief(findings)).toContain('unverified form-accepted: a body of the type application/xml was not sent');
  });

  test('that is a merge patch has null where the document allows it', async () => {
    const patch = { type: 'object', additionalProperties: false, properties: { name: TEXT, note: { type: ['string', 'null'] } } };
    const { findings } = await judge(
      {
        patch: {
          operationId: 'send',
          requestBody: { content: { 'application/merge-patch+json': { schema: patch } } },
          responses: json({}),
        },
      },
      ({ method, body }, response) => {
        const values: unknown = body === '' ? {} : JSON.parse(body);
        const isRight = Object.entries(Object(values)).every(
          ([name, value]) => ['name', 'note'].includes(name) && typeof value === 'string',
        );
        sendJson(response, method === 'PATCH' ? (isRight ? 200 : 422) : 405, {});
      },
    );
    expect(brief(findings)).toContain('violation form-accepted: the service refuses a valid body');
  });

  const parts = {
    type: 'object',
    required: ['file', 'meta'],
    properties: {
      file: { ...TEXT, format: 'binary' },
      meta: { type: 'object', required: ['kind'], properties: { kind: { enum: ['a', 'b'] } } },
    },
  };
  const multipart = postWith({ 'multipart/form-data': { schema: parts, encoding: { file: { contentType: 'image/png, image/jpeg' } } } });

  test('in parts has their content types, and its JSON part is judged by its rules', async () => {
    const run = (isStrict: boolean) =>
      judge(multipart, async ({ method, headers, body }, response) => {
        if (method !== 'POST') return sendJson(response, 405, {});
        const form = await new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } })
          .formData()
          .catch(() => undefined);
        const [file, meta] = [form?.get('file'), form?.get('meta')];
        const names = [...(form?.keys() ?? [])];
        if (!(file instanceof File) || meta === null || meta === undefined || names.length > 2) return sendJson(response, 422, {});
        if (file.type !== 'image/png' || !file.name.endsWith('.png')) return sendJson(response, 415, {});
        const kind = /^Content-Type: application\/json\r\n\r\n\{"kind":"(.*?)"\}/m.exec(body)?.[1];
        sendJson(response, !isStrict || kind === 'a' || kind === 'b' ? 200 : 422, {});
      });
    expect(brief((await run(true)).findings)).toEqual([]);
    expect(brief((await run(false)).findings)).toEqual([
      'violation form-refused: the service accepts an invalid body: a number instead of a text',
      'violation form-refused: the service accepts an invalid body: meta without its required kind',
      'violation form-refused: the service accepts an invalid body: meta.kind outside its list of values',
      'violation form-refused: the service accepts an invalid body: meta.kind with characters that are not ASCII',
    ]);
  });
});

test('an operation whose XML was not compared with its schema is not verified', async () => {
  const content = { 'application/xml': { schema: { type: 'object', required: ['id'] } } };
  const { coverage } = await judge(getWith([], { 200: { description: 'Done.', content } }), ({ method }, response) => {
    response.writeHead(method === 'GET' ? 200 : 405, { 'content-type': 'application/xml' }).end('<a/>');
  });
  expect(coverage.map(({ verified, reason }) => [verified, reason])).toEqual([[false, 'its XML was not compared with the schema']]);
});

test('an operation that succeeded only with an undescribed status is not verified', async () => {
  const { coverage } = await judge(getWith([], json({ type: 'object' })), ({ method }, response) => {
    sendJson(response, method === 'GET' ? 201 : 405, {});
  });
  expect(coverage.map(({ verified, reason }) => [verified, reason])).toEqual([[false, 'it succeeded with an undescribed status']]);
});

describe('accepted work', () => {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const job = { type: 'object', properties: { id: { type: 'integer' }, state: TEXT } };
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/jobs': {
        post: { operationId: 'start', responses: { 202: { description: 'Accepted.', content: { 'application/json': { schema: job } } } } },
      },
      '/jobs/{id}': { get: { operationId: 'getJob', parameters: [id], responses: { ...json(job), 404: refused } } },
      '/lost/{id}': { get: { operationId: 'getLost', parameters: [id], responses: { ...json({ type: 'object' }), 404: refused } } },
    },
  });
  const lost = 'violation state-kept: the service accepts work and names a resource for its progress that does not exist';

  function judgeWork(target: URL) {
    return runContract({
      document,
      target,
      mode: 'full',
      only: new Map(['start', 'getJob', 'getLost'].map((name) => [name, undefined])),
      journal: memoryJournal(),
    });
  }

  test.each<[string, string, unknown, readonly string[]]>([
    ['that leads nowhere is a violation, and the work is found by its identifier', '/lost/7', { id: 7 }, ['/lost/7', '/jobs/7']],
    ['that names another job is a violation, and the work is found by its identifier', '/jobs/8', { id: 7 }, ['/jobs/8', '/jobs/7']],
    ['is read until the work ends', '/jobs/7', {}, ['/jobs/7', '/jobs/7']],
    ['of a read without a state is read', '/lost/7', {}, ['/lost/7']],
  ])('the Location of accepted work %s', async (_, location, body, polled) => {
    let reads = 0;
    const { url, received } = await startServer(({ method, path }, response) => {
      if (method === 'POST') return (response.setHeader('location', location), sendJson(response, 202, body));
      if (path === '/jobs/7') return sendJson(response, 200, { id: 7, state: ++reads === 1 ? 'running' : 'done' });
      sendJson(response, 404, {});
    });
    const { findings } = await judgeWork(url);
    const from = received.findIndex(({ method }) => method === 'POST') + 1;
    expect(received.slice(from, from + polled.length).map(({ path }) => path)).toEqual(polled);
    expect(brief(findings).includes(lost)).toBe(location !== '/jobs/7');
  });

  test('that a body names may exist later, also if another response has a Location', async () => {
    const { url, received } = await startServer(({ method }, response) => {
      if (method === 'POST') return sendJson(response, 202, { id: 7 });
      response.setHeader('location', '/jobs/7');
      sendJson(response, 404, {});
    });
    const { findings } = await judgeWork(url);
    expect(received.map(({ path }) => path)).toContain('/jobs/7');
    expect(brief(findings)).not.toContain(lost);
  });
});
