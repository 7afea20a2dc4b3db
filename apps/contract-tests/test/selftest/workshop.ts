import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';

export const WORKSHOP_TOKEN = 'workshop-token-of-the-test';

/** A received request. */
export interface WorkshopRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A running workshop. */
export interface Workshop {
  readonly url: URL;
  close(): Promise<void>;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Project extends Fields {
  readonly id: string;
  readonly revision: number;
}

/** A response before it is sent. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The exact text of the body, in place of `body` as JSON. */
  readonly text?: string;
}

/** The parts of the service that a defect can replace. */
export interface Rules {
  isToken(request: WorkshopRequest): boolean;
  /** Why a new project is refused; undefined for a valid one. */
  refusalOf(fields: Fields): string | undefined;
  refusalOfChange(fields: Fields): string | undefined;
  refusalOfAsset(fields: Fields): string | undefined;
  /** Whether the parameters of the list are valid. */
  isQuery(query: URLSearchParams): boolean;
  /** The stored fields of a new project. */
  stored(fields: Fields): Fields;
  /** The state of a project after a change. */
  changed(project: Project, fields: Fields): Fields;
  tagOf(project: Project): string;
  /** Compares `If-Match` with the current tag: the status of the refusal, or undefined. */
  preconditionOf(given: string | undefined, current: string): 412 | 428 | undefined;
  isPurpose(text: string | undefined): boolean;
  isRegion(cookies: string): boolean;
  mediaTypeFor(accept: string): string | undefined;
  /** Whether a deleted project leaves the store. */
  isForgotten(project: Project): boolean;
  /** Whether a project is listed. */
  isListed(project: Project): boolean;
  /** The state of a job after a number of reads. */
  stateOf(reads: number): Fields;
  locationOf(job: string): string;
  /** The first index of a page. */
  startOf(cursor: string | null): number;
  /** Changes a response before it is sent. */
  replace(request: WorkshopRequest, reply: Reply): Reply;
}

const PAGE = 3;
const KINDS = ['build', 'repair', 'design'];
const SORTS: ReadonlySet<string> = new Set(['name', 'created', 'budget']);
const FIELDS: ReadonlySet<string> = new Set(['name', 'kind', 'description', 'budget', 'tags', 'starts', 'contact', 'access_code']);

function isText(value: unknown, least: number, most: number): boolean {
  return typeof value === 'string' && [...value].length >= least && [...value].length <= most;
}

function isBudget(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 10_000;
}

function isContact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { email, phone = '', ...others } = Object.fromEntries(Object.entries(value));
  return typeof email === 'string' && /^[^@\s]+@[^@\s]+\.[^@\s.]+$/.test(email) && isText(phone, 0, 20) && Object.keys(others).length === 0;
}

const RULES: Rules = {
  isToken: ({ headers }) => headers.authorization === `Bearer ${WORKSHOP_TOKEN}`,
  refusalOf(fields) {
    const {
      name,
      kind,
      description = null,
      budget = 0,
      tags = [],
      starts = '2026-01-31',
      contact,
      access_code: code = '12345678',
    } = fields;
    const isValid =
      Object.keys(fields).every((field) => FIELDS.has(field)) &&
      isText(name, 1, 60) &&
      KINDS.includes(String(kind)) &&
      (description === null || isText(description, 0, 200)) &&
      isBudget(budget) &&
      Array.isArray(tags) &&
      tags.length <= 5 &&
      tags.every((tag) => isText(tag, 0, 20)) &&
      typeof starts === 'string' &&
      /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(starts) &&
      isContact(contact) &&
      isText(code, 8, 40);
    return isValid ? undefined : 'not a project';
  },
  refusalOfChange({ name, budget = 0, ...others }) {
    return isText(name, 1, 60) && isBudget(budget) && Object.keys(others).length === 0 ? undefined : 'not a change';
  },
  refusalOfAsset({ type, width, pages, href, ...others }) {
    const given = [width, pages, href].filter((value) => value !== undefined).length;
    const isValid =
      (type === 'image' && Number.isInteger(width) && Number(width) >= 1) ||
      (type === 'text' && Number.isInteger(pages) && Number(pages) >= 1) ||
      (type === 'link' && typeof href === 'string' && URL.canParse(href));
    return isValid && given === 1 && Object.keys(others).length === 0 ? undefined : 'not an asset';
  },
  isQuery(query) {
    const limit = query.get('limit') ?? '1';
    const cursor = query.get('cursor') ?? '0';
    const isLimit = /^[0-9]+$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 50;
    return isLimit && /^[0-9]+$/.test(cursor) && SORTS.has(query.get('sort') ?? 'name');
  },
  stored: (fields) => fields,
  changed: (_, fields) => fields,
  tagOf: (project) => `"${createHash('sha256').update(JSON.stringify(project)).digest('hex').slice(0, 12)}"`,
  preconditionOf: (given, current) => (given === undefined ? 428 : given === current || given === '*' ? undefined : 412),
  isPurpose: (text) => /^[a-z]{3}-[0-9]{2}$/.test(text ?? ''),
  isRegion: (cookies) => /(?:^|; )region=(?:north|south)(?:;|$)/.test(cookies),
  mediaTypeFor: (accept) =>
    ['application/json', 'text/csv'].find((type) => accept.includes(type)) ?? (/\*\/\*/.test(accept) ? 'application/json' : undefined),
  isForgotten: () => true,
  isListed: () => true,
  stateOf: (reads) =>
    reads < 2 ? { state: 'pending' } : reads < 3 ? { state: 'running' } : { state: 'done', file: 'https://files.example.com/1' },
  locationOf: (job) => `/jobs/${job}`,
  startOf: (cursor) => Number(cursor ?? 0),
  replace: (_, reply) => reply,
};

/** Starts a workshop with four projects that conforms to its document, except for the rules that a defect replaces. */
export async function startWorkshop(defect: Partial<Rules> = {}): Promise<Workshop> {
  const rules: Rules = { ...RULES, ...defect };
  const projects = new Map<string, Project>();
  const assets = new Map<string, (Fields & { readonly id: string })[]>();
  const jobs = new Map<string, number>();
  let last = 0;

  function create(fields: Fields): Project {
    last++;
    const { access_code: _, ...kept } = fields;
    const id = `prj_${createHash('sha256').update(String(last)).digest('hex').slice(0, 8)}`;
    const created = new Date(Date.UTC(2026, 0, last)).toISOString();
    const project = {
      description: null,
      budget: null,
      tags: [],
      starts: null,
      ...kept,
      id: typeof kept['id'] === 'string' ? kept['id'] : id,
      created,
      revision: 1,
    };
    projects.set(project.id, project);
    assets.set(project.id, [
      { id: 'ast_1', type: 'image', width: 80 },
      { id: 'ast_2', type: 'text', pages: 3 },
      { id: 'ast_3', type: 'link', href: 'https://example.com/a' },
    ]);
    return project;
  }
  for (const [index, name] of ['Bridge', 'Tower', 'Boat', 'Mill'].entries())
    create({
      name,
      kind: KINDS[index % 3],
      contact: { email: 'a@example.com', phone: '+49 30 123456' },
      tags: ['old'],
      budget: index * 10,
    });

  function refuse(status: number, title: string): Reply {
    return { status, body: { title, status }, headers: { 'content-type': 'application/problem+json' } };
  }

  function listed(query: URLSearchParams): Reply {
    if (!rules.isQuery(query)) return refuse(400, 'not a query');
    const all = [...projects.values()].filter((project) => rules.isListed(project));
    const start = rules.startOf(query.get('cursor'));
    const size = Math.min(PAGE, Number(query.get('limit') ?? PAGE));
    const items = all.slice(start, start + size);
    const next = start + size < all.length ? String(start + size) : null;
    const headers = {
      'x-total': String(all.length),
      'x-load': '0.25',
      'x-as-of': '2026-01-31',
      'x-truncated': String(next !== null),
      'x-sorts': 'name,created',
      'x-window': `from,${start},size,${items.length}`,
    };
    return { status: 200, body: { items, next_cursor: next }, headers };
  }

  function shown(status: number, project: Project): Reply {
    return { status, body: project, headers: { etag: rules.tagOf(project) } };
  }

  function ofProject(request: WorkshopRequest, project: Project, area: string | undefined, asset: string | undefined): Reply {
    const { method, headers } = request;
    const fields = objectIn(request);
    if (area === undefined) {
      if (method === 'GET') return shown(200, project);
      if (method === 'DELETE') {
        if (rules.isForgotten(project)) projects.delete(project.id);
        return { status: 204 };
      }
      if (method !== 'PATCH') return refuse(405, 'not allowed');
      const failed = rules.preconditionOf(headers['if-match'], rules.tagOf(project));
      if (failed !== undefined) return refuse(failed, 'precondition');
      const problem = fields === undefined ? 'not JSON' : rules.refusalOfChange(fields);
      if (fields === undefined || problem !== undefined) return refuse(422, problem ?? '');
      const changed = { ...project, ...fields, revision: project.revision + 1 };
      projects.set(project.id, { ...project, ...rules.changed(project, fields), revision: project.revision + 1 });
      return { status: 200, body: changed, headers: { etag: rules.tagOf(projects.get(project.id) ?? project) } };
    }
    if (area === 'report' && method === 'GET') {
      const type = rules.mediaTypeFor(headers.accept ?? '*/*');
      if (type === undefined) return refuse(406, 'not acceptable');
      return type === 'text/csv'
        ? { status: 200, text: 'line\none\n', headers: { 'content-type': 'text/csv' } }
        : { status: 200, body: { lines: ['one'] } };
    }
    if (area === 'export' && method === 'POST') {
      const id = `job_${jobs.size + 1}`;
      jobs.set(id, 0);
      return { status: 202, body: { id, state: 'pending' }, headers: { location: rules.locationOf(id) } };
    }
    if (area !== 'assets') return refuse(area === 'report' || area === 'export' ? 405 : 404, 'none');
    const own = assets.get(project.id) ?? [];
    if (asset !== undefined) {
      if (method !== 'DELETE') return refuse(405, 'not allowed');
      const index = own.findIndex(({ id }) => id === asset);
      if (index < 0) return refuse(404, 'none');
      own.splice(index, 1);
      return { status: 204 };
    }
    if (method === 'GET') return { status: 200, body: own };
    if (method !== 'POST') return refuse(405, 'not allowed');
    const problem = fields === undefined ? 'not JSON' : rules.refusalOfAsset(fields);
    if (fields === undefined || problem !== undefined) return refuse(422, problem ?? '');
    const added = { ...fields, id: `ast_${own.length + 10}` };
    own.push(added);
    return { status: 201, body: added };
  }

  function route(request: WorkshopRequest): Reply {
    const { method, path, query, headers } = request;
    if (!rules.isToken(request)) return refuse(401, 'no token');
    const [area, id, below, asset] = path.split('/').slice(1).map(decodeURIComponent);
    if (area === 'rates' && id === undefined) {
      if (method !== 'GET') return refuse(405, 'not allowed');
      const purpose = headers['x-purpose'];
      if (!rules.isPurpose(typeof purpose === 'string' ? purpose : undefined) || !rules.isRegion(headers.cookie ?? ''))
        return refuse(400, 'bad header');
      return { status: 200, body: { hourly: 80.5 } };
    }
    if (area === 'jobs' && id !== undefined) {
      if (method !== 'GET') return refuse(405, 'not allowed');
      const reads = jobs.get(id);
      if (reads === undefined) return refuse(404, 'none');
      jobs.set(id, reads + 1);
      return { status: 200, body: { id, ...rules.stateOf(reads + 1) } };
    }
    if (area !== 'projects') return refuse(404, 'none');
    if (id === undefined) {
      if (method === 'GET') return listed(query);
      if (method !== 'POST') return refuse(405, 'not allowed');
      const fields = objectIn(request);
      const problem = fields === undefined ? 'not JSON' : rules.refusalOf(fields);
      if (fields === undefined || problem !== undefined) return refuse(422, problem ?? '');
      return shown(201, create(rules.stored(fields)));
    }
    const project = projects.get(id);
    return project === undefined ? refuse(404, 'none') : ofProject(request, project, below, asset);
  }

  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://workshop.invalid');
    const { method = '', headers } = incoming;
    const request = { method, path: pathname, query: searchParams, headers, body: await readText(incoming) };
    send(response, rules.replace(request, route(request)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: new URL(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function objectIn({ body, headers }: WorkshopRequest): Fields | undefined {
  if (headers['content-type'] !== 'application/json') return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body, headers = {}, text }: Reply): void {
  const written = text ?? (body === undefined ? '' : JSON.stringify(body));
  response.writeHead(status, { ...(written === '' ? {} : { 'content-type': 'application/json' }), ...headers }).end(written);
}
