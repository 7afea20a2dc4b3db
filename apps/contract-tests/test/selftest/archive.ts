import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { sendJson, startServer } from '../raw-server.ts';
import type { RawServer, ReceivedRequest } from '../raw-server.ts';

export const KEYS = { key: 'archive-key-of-the-test', session: 'archive-session-of-the-test' };

/** The mistakes that an archive can have, and the operations on which each shows. */
export const DEFECTS = {
  'sends a total that is not an integer': ['listFiles'],
  'accepts a page size above the maximum': ['listFiles'],
  'repeats the last file of a page on the next': ['listFiles'],
  'lists a file of another kind on the second page': ['listFiles'],
  'fails for a list of labels': ['listFiles'],
  'writes times without an offset': ['getFile', 'listFiles'],
  'returns a property that is only for requests': ['getFile', 'listFiles'],
  'has null where the document has none, on the third level': ['getFile', 'listFiles'],
  'has a text among the integers of a map': ['getFile', 'listFiles'],
  'describes refusals as JSON of another type': ['getFile'],
  'accepts an upload without the file': ['uploadFile'],
  'accepts any kind in the JSON part of an upload': ['uploadFile'],
  'does not say where the upload is': ['uploadFile'],
  'sends a file again that the client has': ['getFile'],
  'does not say which range it sends': ['getContent'],
  'changes a file with a stale tag': ['changeFile'],
  'refuses null in a merge patch': ['changeFile'],
  'does not know JSON patches': ['changeFile'],
  'does not keep a change': ['changeFile', 'getFile'],
  'serves a deleted file': ['deleteFile', 'getFile'],
  'fails for one alternative of a job': ['createJob'],
  'names a job that does not exist': ['createJob', 'getJob'],
  'ends a job in an undescribed state': ['getJob'],
  'ends a job without its result': ['getJob'],
  'accepts any session': ['getMe'],
} as const;

export type Defect = keyof typeof DEFECTS;

interface File {
  readonly id: string;
  readonly title: unknown;
  readonly kind: unknown;
  readonly note: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const PAGE_SIZE = 3;
const BYTES = 'the bytes of a file';
const KINDS: ReadonlySet<unknown> = new Set(['photo', 'scan']);

/** Starts an archive with five files that conforms to its document, except for the defects. It stops at the end of the test. */
export async function startArchive(...defects: readonly Defect[]): Promise<RawServer> {
  const has = (defect: Defect): boolean => defects.includes(defect);
  const files = new Map<string, File>();
  const jobs = new Map<string, number>();
  let last = 0;
  function store(title: unknown, kind: unknown): File {
    const file = { id: `f${++last}`, title, kind, note: null };
    files.set(file.id, file);
    return file;
  }
  for (const title of ['Bridge', 'Tower', 'Boat', 'Mill', 'Tunnel']) store(title, 'photo');

  function shown(file: File): Fields {
    return {
      ...file,
      created: `2026-01-31T00:00:00${has('writes times without an offset') ? '' : 'Z'}`,
      attributes: { width: 80, height: has('has a text among the integers of a map') ? '60' : 60 },
      origin: { device: { name: has('has null where the document has none, on the third level') ? null : 'Camera' } },
      ...(has('returns a property that is only for requests') ? { password: 'secret' } : {}),
    };
  }

  function refuse(response: ServerResponse, status: number): void {
    const type = has('describes refusals as JSON of another type') ? 'application/json' : 'application/problem+json';
    sendJson(response, status, { title: 'Refused.', status }, { 'content-type': type });
  }

  function list({ query }: ReceivedRequest, response: ServerResponse): void {
    const [page, size] = [query.get('page') ?? '1', query.get('page_size') ?? String(PAGE_SIZE)];
    const labels = query.get('labels')?.split('|') ?? [];
    const most = has('accepts a page size above the maximum') ? Infinity : 20;
    const isValid = [page, size].every((text) => /^[0-9]+$/.test(text) && Number(text) > 0) && Number(size) <= most;
    if (!isValid || !labels.every((label) => label === 'draft' || label === 'final')) return refuse(response, 400);
    if (labels.length > 1 && has('fails for a list of labels')) return sendJson(response, 500, { title: 'Failed.', status: 500 });
    const from = (Number(page) - 1) * Number(size);
    const start = from > 0 && has('repeats the last file of a page on the next') ? from - 1 : from;
    const all = [...files.values()];
    const items = all.slice(start, from + Number(size)).map(shown);
    const next = `</files?page=${Number(page) + 1}&page_size=${size}>; rel="next"`;
    const isOdd = from > 0 && has('lists a file of another kind on the second page');
    sendJson(response, 200, isOdd ? items.map((item) => ({ ...item, kind: 'film' })) : items, {
      'x-total': has('sends a total that is not an integer') ? 'many' : String(all.length),
      ...(from + Number(size) < all.length ? { link: next } : {}),
    });
  }

  function upload({ headers, body }: ReceivedRequest, response: ServerResponse): void {
    if (headers['content-type']?.startsWith('multipart/form-data') !== true) return refuse(response, 415);
    const { title, kind, password = 'none', ...others } = fieldsOf(/name="meta"[^{]*(\{.*?\})\r\n--/s.exec(body)?.[1]);
    const hasFile = /name="content"; filename=[^]*?content-type: image\/png/i.test(body);
    const isValid =
      (hasFile || has('accepts an upload without the file')) &&
      isText(title, 40) &&
      (KINDS.has(kind) || has('accepts any kind in the JSON part of an upload')) &&
      isText(password, 20) &&
      String(password).length >= 4 &&
      Object.keys(others).length === 0;
    if (!isValid) return refuse(response, 422);
    const file = store(title, kind);
    sendJson(response, 201, shown(file), has('does not say where the upload is') ? {} : { location: `/files/${file.id}` });
  }

  /** The fields of a patch, or the status of its refusal. */
  function patchOf({ headers, body }: ReceivedRequest): Fields | number {
    if (headers['content-type'] === 'application/json-patch+json' && !has('does not know JSON patches')) {
      const steps: unknown = parsed(body);
      const isValid =
        Array.isArray(steps) && steps.every(({ op, path, value }) => op === 'replace' && path === '/title' && isText(value, 40));
      return isValid ? Object.fromEntries(steps.map(({ value }) => ['title', value])) : 422;
    }
    if (headers['content-type'] !== 'application/merge-patch+json') return 415;
    const fields = fieldsOf(body);
    const { title = 'none', note = 'none', ...others } = fields;
    const isNote = note === null ? !has('refuses null in a merge patch') : typeof note === 'string' && [...note].length <= 40;
    return isText(title, 40) && isNote && Object.keys(fields).length > 0 && Object.keys(others).length === 0 ? fields : 422;
  }

  function change(request: ReceivedRequest, response: ServerResponse, file: File): void {
    const given = request.headers['if-match'];
    const isStale = given !== undefined && given !== '*' && given !== tagOf(file);
    if (isStale && !has('changes a file with a stale tag')) return refuse(response, 412);
    const fields = patchOf(request);
    if (typeof fields === 'number') return refuse(response, fields);
    const changed = { ...file, ...fields };
    if (!has('does not keep a change')) files.set(file.id, changed);
    sendJson(response, 200, shown(changed), { etag: tagOf(changed) });
  }

  function read({ headers }: ReceivedRequest, response: ServerResponse, file: File): void {
    const tag = tagOf(file);
    if (headers['if-none-match'] === tag && !has('sends a file again that the client has'))
      return void response.writeHead(304, { etag: tag }).end();
    sendJson(response, 200, shown(file), { etag: tag });
  }

  function readContent({ headers }: ReceivedRequest, response: ServerResponse): void {
    const range = /^bytes=([0-9]+)-([0-9]+)$/.exec(headers.range ?? '');
    if (range === null) return void response.writeHead(200, { 'content-type': 'image/png' }).end(BYTES);
    const [from, to] = [Number(range[1]), Math.min(Number(range[2]), BYTES.length - 1)];
    const said = has('does not say which range it sends') ? {} : { 'content-range': `bytes ${from}-${to}/${BYTES.length}` };
    response.writeHead(206, { 'content-type': 'image/png', ...said }).end(BYTES.slice(from, to + 1));
  }

  function createJob({ headers, body }: ReceivedRequest, response: ServerResponse): void {
    if (headers['content-type'] !== 'application/json') return refuse(response, 415);
    const { type, format, level, ...others } = fieldsOf(body);
    const isConversion = type === 'conversion' && (format === 'webp' || format === 'avif') && level === undefined;
    const isPacking = type === 'packing' && Number.isInteger(level) && Number(level) >= 1 && Number(level) <= 9 && format === undefined;
    if ((!isConversion && !isPacking) || Object.keys(others).length > 0) return refuse(response, 422);
    if (isPacking && has('fails for one alternative of a job')) return sendJson(response, 500, { title: 'Failed.', status: 500 });
    const id = `j${jobs.size + 1}`;
    jobs.set(id, 0);
    sendJson(response, 202, { id, state: 'queued' }, { location: has('names a job that does not exist') ? '/jobs/j999' : `/jobs/${id}` });
  }

  function readJob(response: ServerResponse, id: string): void {
    const reads = jobs.get(id);
    if (reads === undefined) return refuse(response, 404);
    jobs.set(id, reads + 1);
    if (reads < 2) return sendJson(response, 200, { id, state: reads === 0 ? 'queued' : 'running' });
    const state = has('ends a job in an undescribed state') ? 'finished' : 'done';
    sendJson(response, 200, { id, state, ...(has('ends a job without its result') ? {} : { result: 'https://example.com/1' }) });
  }

  function route(request: ReceivedRequest, response: ServerResponse): void {
    const { method, path, headers } = request;
    const [area, id = '', below] = path.split('/').slice(1).map(decodeURIComponent);
    const hasSession = headers.cookie === `sid=${KEYS.session}` || (headers.cookie !== undefined && has('accepts any session'));
    if (area === 'me' ? !hasSession : headers['x-archive-key'] !== KEYS.key) return refuse(response, 401);
    if (area === 'me') return method === 'GET' ? sendJson(response, 200, { name: 'Ada', theme: 'dark' }) : refuse(response, 405);
    if (area === 'files' && id === '')
      return method === 'GET' ? list(request, response) : method === 'POST' ? upload(request, response) : refuse(response, 405);
    if (area === 'jobs' && id === '') return method === 'POST' ? createJob(request, response) : refuse(response, 405);
    if (area === 'jobs') return method === 'GET' ? readJob(response, id) : refuse(response, 405);
    const file = files.get(id);
    if (area !== 'files' || file === undefined) return refuse(response, 404);
    if (below === 'content') return method === 'GET' ? readContent(request, response) : refuse(response, 405);
    if (method === 'GET') return read(request, response, file);
    if (method === 'PATCH') return change(request, response, file);
    if (method !== 'DELETE') return refuse(response, 405);
    if (!has('serves a deleted file')) files.delete(id);
    response.writeHead(204).end();
  }
  return startServer(route);
}

function tagOf(file: File): string {
  return `"${createHash('sha256').update(JSON.stringify(file)).digest('hex').slice(0, 12)}"`;
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value !== '' && [...value].length <= most;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

function fieldsOf(text: string | undefined): Fields {
  const value = parsed(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
