import type { ServerResponse } from 'node:http';

import { startServer } from '../raw-server.ts';
import type { ReceivedRequest, RawServer } from '../raw-server.ts';

export const TOKEN = 'library-token-of-the-test';
const PAGE_SIZE = 3;
const ID = /^[0-9]+$/;
const ISBN = /^[0-9-]{10,17}$/;
const FIELDS: ReadonlySet<string> = new Set(['title', 'isbn', 'pages', 'shelf', 'available']);

/** A response before it is sent. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The exact text of the body, in place of `body` as JSON. */
  readonly text?: string;
  readonly isCut?: boolean;
}

/** Replaces the response to some requests. `library` processes a request without validation. */
export type Mistake = (request: ReceivedRequest, reply: Reply, library: Library) => Reply | undefined;

export interface Library {
  /** Adds a book without validation. */
  add(fields: Readonly<Record<string, unknown>>): Reply;
  /** The response to the same request with a valid token. */
  withToken(request: ReceivedRequest): Reply;
  readonly firstBook: () => Readonly<Record<string, unknown>>;
}

/** Starts a library that conforms to its document, except for one mistake. */
export function startLibrary(mistake: Mistake = () => undefined): Promise<RawServer> {
  const books = new Map<string, Readonly<Record<string, unknown>>>();
  let nextId = 41;
  const members = Array.from({ length: 7 }, (_, index) => ({
    id: `m-${index + 1}`,
    name: `Member ${index + 1}`,
    email: index % 2 === 0 ? null : 'm@example.com',
  }));

  function store(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const book = { shelf: 'fiction', available: true, ...fields, id: nextId++, added: '2026-01-31T09:30:00Z' };
    books.set(String(book.id), book);
    return book;
  }
  for (const title of ['One', 'Two', 'Three']) store({ title, isbn: '978-0-441-47812-5', pages: 100 });

  function loansOf(id: string): readonly Readonly<Record<string, unknown>>[] {
    // Only the third book has loans.
    return id === '43' ? ['l-1', 'l-2'].map((loan) => ({ id: loan, member: 'm-1', fee: 19.99, due: '2026-02-28' })) : [];
  }

  function route(request: ReceivedRequest): Reply {
    const { method, path, query } = request;
    const [area, id, below, loan] = path.split('/').slice(1);
    const problem = (status: number, title: string): Reply => ({
      status,
      body: { title, status },
      headers: { 'content-type': 'application/problem+json' },
    });
    const allowed = (...methods: readonly string[]): Reply | undefined =>
      methods.includes(method) ? undefined : problem(405, 'Method not allowed');
    if (area === 'health' && id === undefined) return allowed('GET') ?? { status: 200, body: { status: 'up' } };
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return problem(401, 'No token');
    if (area === 'members' && below === undefined) {
      const refused = allowed('GET');
      if (refused !== undefined) return refused;
      if (id !== undefined) {
        const member = members.find((one) => one.id === decodeURIComponent(id));
        return member === undefined ? problem(404, 'No such member') : { status: 200, body: member };
      }
      const start = Number(query.get('cursor') ?? 0);
      const next = start + PAGE_SIZE;
      return { status: 200, body: { items: members.slice(start, next), next_cursor: next < members.length ? String(next) : null } };
    }
    if (area !== 'books') return problem(404, 'No such path');
    if (id === undefined) {
      if (method === 'POST') return addBook(request, problem);
      const refused = allowed('GET');
      if (refused !== undefined) return refused;
      const shelf = query.get('shelf');
      if (shelf !== 'fiction' && shelf !== 'science') return problem(400, 'No such shelf');
      const found = [...books.values()].filter((book) => book['shelf'] === shelf);
      return { status: 200, body: { books: found }, headers: { 'x-total': String(found.length), 'x-cost': '1' } };
    }
    const book = ID.test(id) ? books.get(id) : undefined;
    const refused = below === undefined ? allowed('GET', 'PUT', 'DELETE') : allowed('GET');
    if (refused !== undefined) return refused;
    if (book === undefined) return problem(404, 'No such book');
    if (below === 'loans' && loan === undefined) return { status: 200, body: loansOf(id) };
    if (below === 'loans') {
      const found = loansOf(id).find((one) => one['id'] === loan);
      return found === undefined ? problem(404, 'No such loan') : { status: 200, body: found };
    }
    if (below !== undefined) return problem(404, 'No such path');
    if (method === 'GET') return { status: 200, body: book };
    if (method === 'DELETE') {
      books.delete(id);
      return { status: 204, body: undefined };
    }
    const fields = fieldsOf(request);
    if (fields === undefined) return problem(422, 'Not a book');
    const replaced = { ...book, ...fields };
    books.set(id, replaced);
    return { status: 200, body: replaced };
  }

  function addBook(request: ReceivedRequest, problem: (status: number, title: string) => Reply): Reply {
    const fields = fieldsOf(request);
    return fields === undefined ? problem(422, 'Not a book') : { status: 201, body: store(fields) };
  }

  const library: Library = {
    add: (fields) => ({ status: 201, body: store({ title: 'Odd', isbn: '978-0-441-47812-5', pages: 1, ...fields }) }),
    withToken: (request) => route({ ...request, headers: { ...request.headers, authorization: `Bearer ${TOKEN}` } }),
    firstBook: () => [...books.values()][0] ?? {},
  };
  return startServer((request, response) => {
    const reply = route(request);
    send(response, mistake(request, reply, library) ?? reply);
  });
}

/** The fields of a new book; undefined when they are invalid. */
function fieldsOf({ body, headers }: ReceivedRequest): Readonly<Record<string, unknown>> | undefined {
  if (headers['content-type'] !== 'application/json') return undefined;
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = Object(JSON.parse(body));
  } catch {
    return undefined;
  }
  const { title, isbn, pages, shelf, available } = fields;
  const isValid =
    Object.keys(fields).every((name) => FIELDS.has(name)) &&
    typeof title === 'string' &&
    title.length >= 1 &&
    title.length <= 40 &&
    typeof isbn === 'string' &&
    ISBN.test(isbn) &&
    Number.isInteger(pages) &&
    Number(pages) >= 1 &&
    Number(pages) <= 5000 &&
    (shelf === undefined || shelf === 'fiction' || shelf === 'science') &&
    (available === undefined || typeof available === 'boolean');
  return isValid ? fields : undefined;
}

function send(response: ServerResponse, { status, body, headers = {}, text, isCut = false }: Reply): void {
  const written = text ?? (body === undefined ? '' : JSON.stringify(body));
  const type = written === '' ? {} : { 'content-type': 'application/json' };
  if (!isCut) return void response.writeHead(status, { ...type, ...headers }).end(written);
  response.writeHead(status, { ...type, ...headers, 'content-length': Buffer.byteLength(written) });
  response.write(written.slice(0, -1), () => response.destroy());
}
