import { randomUUID } from 'node:crypto';

import type { ReceivedRequest } from '../raw-server.ts';
import { TOKEN } from './server.ts';
import type { Mistake, Reply } from './server.ts';

/** A mistake and the check that must find it. */
export interface Seeded {
  readonly name: string;
  readonly check: string;
  /** Other checks that also find it. */
  readonly others?: readonly string[];
  readonly mistake: Mistake;
}

function isGet({ method, path }: ReceivedRequest, pattern: RegExp): boolean {
  return method === 'GET' && pattern.test(path);
}

/** Changes the body of successful reads of some paths. */
function changedBody(pattern: RegExp, change: (body: Record<string, unknown>) => unknown): Mistake {
  return (request, reply) =>
    isGet(request, pattern) && reply.status === 200 ? { ...reply, body: change(structuredClone(Object(reply.body))) } : undefined;
}

/** Changes the response to successful reads of some paths. */
function changedResponse(pattern: RegExp, change: (reply: Reply) => Partial<Reply>): Mistake {
  return (request, reply) => (isGet(request, pattern) && reply.status === 200 ? { ...reply, ...change(reply) } : undefined);
}

/** Accepts books with certain invalid fields. */
function acceptingForms(isBroken: (fields: Readonly<Record<string, unknown>>) => boolean): Mistake {
  return ({ method, path, body }, reply, library) => {
    if (method !== 'POST' || path !== '/books' || reply.status !== 422) return undefined;
    const fields = Object(JSON.parse(body));
    return isBroken(fields) ? library.add({}) : undefined;
  };
}

/** Accepts certain invalid queries for books. */
function acceptingQueries(isBroken: (query: URLSearchParams) => boolean): Mistake {
  return (request, reply, library) => {
    if (reply.status !== 400 || !isGet(request, BOOKS) || !isBroken(request.query)) return undefined;
    return library.withToken({ ...request, query: new URLSearchParams({ shelf: 'fiction' }) });
  };
}

const BOOKS = /^\/books$/;
const BOOK = /^\/books\/[0-9]+$/;
const LOANS = /^\/books\/[0-9]+\/loans$/;
const LOAN = /^\/books\/[0-9]+\/loans\/.+$/;
const MEMBERS = /^\/members$/;
const MEMBER = /^\/members\/.+$/;

function lastBook(change: (book: Record<string, unknown>) => void): Mistake {
  return changedBody(BOOKS, (body) => {
    const { books } = body;
    const last = Array.isArray(books) ? Object(books.at(-1)) : {};
    change(last);
    return body;
  });
}

export const SEEDED: readonly Seeded[] = [
  {
    name: 'a request without the token is served',
    check: 'key-required',
    mistake: (request, reply, library) =>
      reply.status === 401 && request.headers.authorization === undefined ? library.withToken(request) : undefined,
  },
  {
    name: 'a request with any token is served',
    check: 'key-checked',
    mistake: (request, reply, library) =>
      reply.status === 401 && request.headers.authorization !== undefined ? library.withToken(request) : undefined,
  },
  {
    name: 'a query parameter outside its list of values is served',
    check: 'parameter-refused',
    mistake: acceptingQueries((query) => query.has('shelf') && /^[a-z-]+$/.test(query.get('shelf') ?? '')),
  },
  {
    name: 'a query parameter with characters that are not ASCII is served',
    check: 'parameter-refused',
    mistake: acceptingQueries((query) => /[^ -~]/.test(query.get('shelf') ?? '')),
  },
  {
    name: 'a query without a required parameter is served',
    check: 'parameter-refused',
    mistake: acceptingQueries((query) => !query.has('shelf')),
  },
  {
    name: 'an unknown identifier is served',
    check: 'identifier-unknown',
    others: ['removed-stays-removed'],
    mistake: (request, reply, library) =>
      reply.status === 404 && isGet(request, BOOK) ? { status: 200, body: library.firstBook() } : undefined,
  },
  {
    name: 'an unknown identifier makes the service fail',
    check: 'server-error',
    mistake: (request, reply) => (reply.status === 404 && isGet(request, MEMBER) ? { ...reply, status: 500 } : undefined),
  },
  {
    name: 'the last item of a list lacks a required property',
    check: 'property-required',
    mistake: lastBook((book) => delete book['title']),
  },
  { name: 'the last item of a list has a number as text', check: 'property-type', mistake: lastBook((book) => (book['pages'] = '100')) },
  { name: 'null where it is not allowed', check: 'property-null', mistake: changedBody(MEMBER, (body) => ({ ...body, name: null })) },
  {
    name: 'a date and time in local notation',
    check: 'property-format',
    mistake: changedBody(BOOK, (body) => ({ ...body, added: '31.01.2026 09:30' })),
  },
  {
    name: 'a date with a time, in a list of a list',
    check: 'property-format',
    mistake: (request, reply) =>
      isGet(request, LOANS) && reply.status === 200 && Array.isArray(reply.body) && reply.body.length > 0
        ? { ...reply, body: reply.body.map((loan: object) => ({ ...loan, due: '2026-02-28T00:00:00Z' })) }
        : undefined,
  },
  {
    name: 'a value that is not listed',
    check: 'value-allowed',
    others: ['state-kept'],
    mistake: changedBody(BOOK, (body) => ({ ...body, shelf: 'poetry' })),
  },
  {
    name: 'a value against its pattern',
    check: 'value-allowed',
    others: ['state-kept'],
    mistake: changedBody(BOOK, (body) => ({ ...body, isbn: 'n/a' })),
  },
  { name: 'a number below its minimum', check: 'value-allowed', mistake: lastBook((book) => (book['pages'] = 0)) },
  {
    name: 'an amount with more decimals than described',
    check: 'value-allowed',
    mistake: changedBody(LOAN, (body) => ({ ...body, fee: 19.995 })),
  },
  {
    name: 'a property that is not described',
    check: 'property-described',
    mistake: changedBody(BOOK, (body) => ({ ...body, colour: 'red' })),
  },
  {
    name: 'a secret that nobody described',
    check: 'property-described',
    mistake: changedBody(MEMBER, (body) => ({ ...body, password_hash: '$2b$10$abcdefgh' })),
  },
  {
    name: 'a member twice in its object',
    check: 'json-unambiguous',
    mistake: changedResponse(BOOK, ({ body }) => ({ text: `{"id":1,${JSON.stringify(body).slice(1)}` })),
  },
  {
    name: 'a byte order mark',
    check: 'json-unambiguous',
    mistake: changedResponse(MEMBERS, ({ body }) => ({ text: `\uFEFF${JSON.stringify(body)}` })),
  },
  { name: 'a body that is not JSON', check: 'body-readable', mistake: changedResponse(MEMBERS, () => ({ text: '<html>Sign in</html>' })) },
  { name: 'an empty body', check: 'body-readable', mistake: changedResponse(MEMBER, () => ({ text: '' })) },
  {
    name: 'a connection that ends in the middle of the response',
    check: 'body-complete',
    mistake: changedResponse(MEMBERS, () => ({ isCut: true })),
  },
  {
    name: 'the token of the caller in the response',
    check: 'credential-echoed',
    mistake: changedBody(BOOKS, (body) => ({ ...body, books: [], self: `/books?token=${TOKEN}` })),
  },
  { name: 'a status that is not described', check: 'status-documented', mistake: changedResponse(MEMBERS, () => ({ status: 203 })) },
  {
    name: 'a content type that is not described',
    check: 'content-type-documented',
    mistake: changedResponse(MEMBERS, () => ({ headers: { 'content-type': 'text/json' } })),
  },
  {
    name: 'a redirect to a login page',
    check: 'login-redirect',
    mistake: changedResponse(MEMBERS, () => ({ status: 302, text: '', headers: { location: '/login' } })),
  },
  {
    name: 'a required header is missing',
    check: 'header-present',
    mistake: changedResponse(BOOKS, () => ({ headers: { 'x-cost': '1' } })),
  },
  {
    name: 'a described header that is never sent',
    check: 'part-seen',
    mistake: changedResponse(BOOKS, ({ headers }) => ({ headers: { 'x-total': headers?.['x-total'] ?? '0' } })),
  },
  {
    name: 'a header of the API that is not described',
    check: 'header-described',
    mistake: changedResponse(MEMBERS, () => ({ headers: { 'x-shard': '7' } })),
  },
  {
    name: 'a JSON body without a required property is accepted',
    check: 'form-refused',
    mistake: acceptingForms(({ isbn }) => isbn === undefined),
  },
  {
    name: 'a JSON body with a value of another type is accepted',
    check: 'form-refused',
    mistake: acceptingForms(({ title }) => typeof title === 'number'),
  },
  {
    name: 'a JSON body with a number below its minimum is accepted',
    check: 'form-refused',
    mistake: acceptingForms(({ pages }) => pages === 0),
  },
  {
    name: 'a JSON body with a number above its maximum is accepted',
    check: 'form-refused',
    mistake: acceptingForms(({ pages }) => pages === 5001),
  },
  {
    name: 'a JSON body with a text that is too long is accepted',
    check: 'form-refused',
    mistake: acceptingForms(({ title }) => String(title).length > 40),
  },
  {
    name: 'a JSON body with an unknown property is accepted',
    check: 'form-refused',
    mistake: acceptingForms((fields) => 'not_a_field' in fields),
  },
  {
    name: 'a JSON body with characters that are not ASCII where only digits are allowed is accepted',
    check: 'form-refused',
    mistake: acceptingForms(({ isbn }) => /\P{ASCII}/u.test(String(isbn))),
  },
  {
    name: 'a valid JSON body is refused',
    check: 'form-accepted',
    mistake: ({ method, path }, reply) =>
      method === 'POST' && path === '/books' && reply.status === 201
        ? { status: 422, body: { title: 'No.', status: 422 }, headers: { 'content-type': 'application/problem+json' } }
        : undefined,
  },
  {
    name: 'a removed thing can be removed again',
    check: 'removed-stays-removed',
    mistake: ({ method, path }, reply) =>
      method === 'DELETE' && /^\/books\/4[4-9]$/.test(path) && reply.status === 404 ? { status: 204, body: undefined } : undefined,
  },
  {
    name: 'the second page repeats the first',
    check: 'page-overlap',
    mistake: (request, reply, library) =>
      isGet(request, MEMBERS) && request.query.has('cursor') && reply.status === 200
        ? library.withToken({ ...request, query: new URLSearchParams() })
        : undefined,
  },
  {
    name: 'a page with more items than described',
    check: 'value-allowed',
    mistake: changedBody(MEMBERS, (body) => ({ ...body, items: [1, 2, 3, 4].map(() => ({ id: `m-${randomUUID()}`, name: 'x' })) })),
  },
  {
    name: 'a method that is not described is served',
    check: 'method-refused',
    // The run sends PATCH only to the book that it has added.
    mistake: ({ method, path }, reply) => (method === 'PATCH' && BOOK.test(path) ? { ...reply, status: 200, body: {} } : undefined),
  },
];
