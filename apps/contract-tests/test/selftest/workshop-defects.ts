import { Buffer } from 'node:buffer';

import type { Fields, Reply, Rules, WorkshopRequest } from './workshop.ts';

/** A workshop with one mistake, and the operations on which it shows. */
export interface WorkshopDefect {
  readonly name: string;
  readonly operations: readonly string[];
  readonly rules: Partial<Rules>;
}

const FAILURE: Reply = { status: 500, body: { title: 'failed', status: 500 }, headers: { 'content-type': 'application/problem+json' } };

function sentFields({ body }: WorkshopRequest): Fields {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

function isCreation({ method, path }: WorkshopRequest): boolean {
  return method === 'POST' && path === '/projects';
}

function isRead({ method, path }: WorkshopRequest): boolean {
  return method === 'GET' && /^\/projects\/[^/]+$/.test(path);
}

/** Fails for accepted new projects with certain fields. */
function failsFor(isMeant: (fields: Fields) => boolean): Partial<Rules> {
  return { replace: (request, reply) => (isCreation(request) && reply.status === 201 && isMeant(sentFields(request)) ? FAILURE : reply) };
}

/** Changes the JSON of successful responses. */
function altered(isMeant: (request: WorkshopRequest) => boolean, alter: (body: Fields) => unknown): Partial<Rules> {
  return {
    replace: (request, reply) =>
      isMeant(request) && reply.status < 300 && reply.body !== undefined ? { ...reply, body: alter(Object(reply.body)) } : reply,
  };
}

function withHeader(name: string, value: string | undefined, isMeant: (request: WorkshopRequest) => boolean): Partial<Rules> {
  return {
    replace(request, reply) {
      if (!isMeant(request) || reply.status >= 300) return reply;
      const others = Object.fromEntries(Object.entries(reply.headers ?? {}).filter(([header]) => header !== name));
      return { ...reply, headers: value === undefined ? others : { ...others, [name]: value } };
    },
  };
}

function isList({ method, path }: WorkshopRequest): boolean {
  return method === 'GET' && path === '/projects';
}

function isAssets({ method, path }: WorkshopRequest): boolean {
  return method === 'GET' && path.endsWith('/assets');
}

const CREATE = ['createProject'];

export const DEFECTS: readonly WorkshopDefect[] = [
  // Values that are valid, but not the first that comes to mind.
  {
    name: 'stores text that is not ASCII as question marks',
    operations: ['createProject', 'getProject'],
    rules: {
      stored: (fields) => ({
        ...fields,
        name: Buffer.from(String(fields['name']), 'latin1')
          .toString('ascii')
          .replaceAll(/[^ -~]/g, '?'),
      }),
    },
  },
  { name: 'fails for a listed value of an enumeration', operations: CREATE, rules: failsFor(({ kind }) => kind === 'design') },
  { name: 'fails for the greatest allowed number', operations: CREATE, rules: failsFor(({ budget }) => budget === 10_000) },
  { name: 'fails for the least allowed number', operations: CREATE, rules: failsFor(({ budget }) => budget === 0) },
  { name: 'fails for null where null is allowed', operations: CREATE, rules: failsFor(({ description }) => description === null) },
  { name: 'fails when an optional field is absent', operations: CREATE, rules: failsFor((fields) => !('tags' in fields)) },
  { name: 'fails when an optional field is given', operations: CREATE, rules: failsFor(({ starts }) => starts !== undefined) },
  { name: 'fails for the longest allowed text', operations: CREATE, rules: failsFor(({ name }) => String(name).length === 60) },
  { name: 'fails for the shortest allowed text', operations: CREATE, rules: failsFor(({ name }) => String(name).length === 1) },
  { name: 'fails for an empty list', operations: CREATE, rules: failsFor(({ tags }) => Array.isArray(tags) && tags.length === 0) },
  {
    name: 'returns a wrong type for the third resource only',
    operations: ['getProject'],
    rules: altered(isRead, (body) => (body['name'] === 'Boat' ? { ...body, budget: '20' } : body)),
  },
  {
    name: 'fails for a listed value of an optional query parameter',
    operations: ['listProjects'],
    rules: { replace: (request, reply) => (isList(request) && request.query.get('sort') === 'created' ? FAILURE : reply) },
  },
  {
    name: 'fails for one alternative of a body',
    operations: ['addAsset'],
    rules: {
      replace: (request, reply) =>
        request.method === 'POST' && reply.status === 201 && sentFields(request)['type'] === 'link' ? FAILURE : reply,
    },
  },
  // Negotiation.
  {
    name: 'returns JSON to a request that accepts only CSV',
    operations: ['getReport'],
    rules: { mediaTypeFor: () => 'application/json' },
  },
  {
    name: 'fails for the second described media type',
    operations: ['getReport'],
    rules: { replace: (_, reply) => (reply.headers?.['content-type'] === 'text/csv' ? FAILURE : reply) },
  },
  // Broken values outside of query and top level of a body.
  {
    name: 'accepts a request without a required header',
    operations: ['getRates'],
    rules: { isPurpose: (text) => text === undefined || /^[a-z]{3}-[0-9]{2}$/.test(text) },
  },
  { name: 'accepts any value of a header', operations: ['getRates'], rules: { isPurpose: (text) => text !== undefined } },
  { name: 'accepts any value of a cookie', operations: ['getRates'], rules: { isRegion: (cookies) => cookies.includes('region=') } },
  {
    name: 'accepts a request without a required cookie',
    operations: ['getRates'],
    rules: { isRegion: (cookies) => !cookies.includes('region=') || /region=(?:north|south)/.test(cookies) },
  },
  {
    name: 'fails for an identifier that breaks its pattern',
    operations: ['getProject'],
    rules: { replace: (request, reply) => (isRead(request) && !/^\/projects\/prj_[0-9a-f]{8}$/.test(request.path) ? FAILURE : reply) },
  },
  {
    name: 'accepts a wrong value below the top level of a body',
    operations: CREATE,
    rules: {
      refusalOf: (fields) => (typeof fields['contact'] === 'object' ? undefined : 'not a project'),
    },
  },
  {
    name: 'accepts a number above its maximum in a query',
    operations: ['listProjects'],
    rules: { isQuery: (query) => query.get('sort') === null || ['name', 'created', 'budget'].includes(query.get('sort') ?? '') },
  },
  // Headers of responses.
  { name: 'sends a word where a header is true or false', operations: ['listProjects'], rules: withHeader('x-truncated', 'yes', isList) },
  {
    name: 'sends an undescribed item in a header with a list',
    operations: ['listProjects'],
    rules: withHeader('x-sorts', 'name,colour', isList),
  },
  {
    name: 'sends a header with an object that lacks a member',
    operations: ['listProjects'],
    rules: withHeader('x-window', 'from,0', isList),
  },
  { name: 'sends a word where a header is a number', operations: ['listProjects'], rules: withHeader('x-load', 'low', isList) },
  { name: 'sends a number beyond its limits in a header', operations: ['listProjects'], rules: withHeader('x-load', '1.5', isList) },
  { name: 'sends a fraction where a header is an integer', operations: ['listProjects'], rules: withHeader('x-total', '1.5', isList) },
  {
    name: 'sends a day in local notation in a header with a date',
    operations: ['listProjects'],
    rules: withHeader('x-as-of', '31.1.2026', isList),
  },
  // Entity tags.
  {
    name: 'carries out a change with a stale tag',
    operations: ['changeProject'],
    rules: { preconditionOf: (given) => (given === undefined ? 428 : undefined) },
  },
  {
    name: 'carries out a change without a tag',
    operations: ['changeProject'],
    rules: { preconditionOf: (given, current) => (given === undefined || given === current ? undefined : 412) },
  },
  {
    name: 'refuses a change with the right tag',
    operations: ['changeProject'],
    rules: { preconditionOf: (given) => (given === undefined ? 428 : 412) },
  },
  {
    name: 'keeps the tag after a change',
    operations: ['changeProject', 'getProject'],
    rules: { tagOf: ({ id }) => `"${Buffer.from(id).toString('hex').slice(0, 12)}"` },
  },
  { name: 'sends no tag with a read', operations: ['getProject'], rules: withHeader('etag', undefined, isRead) },
  // Work that goes on after the response.
  {
    name: 'ends a job in an undescribed state',
    operations: ['getJob'],
    rules: { stateOf: (reads) => (reads < 3 ? { state: 'pending' } : { state: 'finished' }) },
  },
  {
    name: 'ends a job without its result',
    operations: ['getJob'],
    rules: { stateOf: (reads) => (reads < 3 ? { state: 'pending' } : { state: 'done' }) },
  },
  { name: 'names a job that does not exist', operations: ['exportProject', 'getJob'], rules: { locationOf: () => '/jobs/job_99' } },
  // Properties of one direction.
  {
    name: 'returns a property that is only for requests',
    operations: ['createProject', 'getProject', 'listProjects'],
    rules: altered(
      (request) => isCreation(request) || isRead(request),
      (body) => ({ ...body, access_code: 'abcdefgh' }),
    ),
  },
  {
    name: 'takes over a property that is only for responses',
    operations: CREATE,
    rules: {
      refusalOf: ({ name, kind, contact }) =>
        typeof name === 'string' &&
        name.length > 0 &&
        name.length <= 60 &&
        ['build', 'repair', 'design'].includes(String(kind)) &&
        typeof contact === 'object'
          ? undefined
          : 'not a project',
    },
  },
  // State.
  {
    name: 'does not list what was created',
    operations: ['createProject', 'listProjects'],
    rules: { isListed: ({ name }) => ['Bridge', 'Tower', 'Boat', 'Mill'].includes(String(name)) },
  },
  { name: 'does not keep a change', operations: ['changeProject', 'getProject'], rules: { changed: () => ({}) } },
  { name: 'goes on to serve what was deleted', operations: ['deleteProject', 'getProject'], rules: { isForgotten: () => false } },
  // Alternatives, pages and tokens.
  {
    name: 'returns an alternative without its required property',
    operations: ['listAssets'],
    rules: {
      replace: (request, reply) =>
        isAssets(request) && Array.isArray(reply.body)
          ? { ...reply, body: reply.body.map((asset) => (asset.type === 'text' ? { id: asset.id, type: 'text' } : asset)) }
          : reply,
    },
  },
  { name: 'repeats the first page for every cursor', operations: ['listProjects'], rules: { startOf: () => 0 } },
];
