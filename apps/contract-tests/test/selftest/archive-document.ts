import { parseDocument } from '@reseller/contract';

const TEXT = { type: 'string' };

function ref(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

function json(schema: object): object {
  return { 'application/json': { schema } };
}

const refused = { description: 'Refused.', content: { 'application/problem+json': { schema: ref('Problem') } } };
const REFUSALS = { 400: refused, 401: refused, 404: refused, 405: refused, 412: refused, 415: refused, 422: refused };

function parameter(name: string, place: string, schema: object, more: object = {}): object {
  return { name, in: place, schema, ...(place === 'path' ? { required: true } : {}), ...more };
}

const fileId = parameter('file_id', 'path', { type: 'string', pattern: '^f[0-9]+$' });
const tagged = { ETag: { required: true, schema: TEXT } };
const located = { Location: { required: true, schema: TEXT } };

/** A document of files and jobs: uploads in parts, ranges, pages by `Link`, two kinds of patches, work after the response, and two credentials. */
export const ARCHIVE = parseDocument({
  openapi: '3.1.0',
  info: { title: 'Archive', version: '1' },
  security: [{ key: [] }],
  paths: {
    '/files': {
      get: {
        operationId: 'listFiles',
        parameters: [
          parameter('page', 'query', { type: 'integer', minimum: 1 }),
          parameter('page_size', 'query', { type: 'integer', minimum: 1, maximum: 20 }),
          parameter('labels', 'query', { type: 'array', items: { enum: ['draft', 'final'] } }, { style: 'pipeDelimited', explode: false }),
        ],
        responses: {
          200: {
            description: 'A page of files.',
            headers: { 'X-Total': { required: true, schema: { type: 'integer' } }, Link: { schema: TEXT } },
            content: json({ type: 'array', items: ref('File') }),
          },
          ...REFUSALS,
        },
      },
      post: {
        operationId: 'uploadFile',
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                required: ['content', 'meta'],
                properties: { content: { type: 'string', format: 'binary' }, meta: ref('Meta') },
              },
              encoding: { content: { contentType: 'image/png' } },
            },
          },
        },
        responses: { 201: { description: 'Stored.', headers: located, content: json(ref('File')) }, ...REFUSALS },
      },
    },
    '/files/{file_id}': {
      parameters: [fileId],
      get: {
        operationId: 'getFile',
        parameters: [parameter('If-None-Match', 'header', TEXT)],
        responses: {
          200: { description: 'A file.', headers: tagged, content: json(ref('File')) },
          304: { description: 'Not changed.' },
          ...REFUSALS,
        },
      },
      patch: {
        operationId: 'changeFile',
        parameters: [parameter('If-Match', 'header', TEXT)],
        requestBody: {
          required: true,
          content: {
            'application/merge-patch+json': { schema: ref('Change') },
            'application/json-patch+json': {
              schema: { type: 'array', items: ref('Step') },
              example: [{ op: 'replace', path: '/title', value: 'Another' }],
            },
          },
        },
        responses: { 200: { description: 'Changed.', headers: tagged, content: json(ref('File')) }, ...REFUSALS },
      },
      delete: { operationId: 'deleteFile', responses: { 204: { description: 'Deleted.' }, ...REFUSALS } },
    },
    '/files/{file_id}/content': {
      parameters: [fileId],
      get: {
        operationId: 'getContent',
        parameters: [parameter('Range', 'header', TEXT, { example: 'bytes=0-3' })],
        responses: {
          200: { description: 'All bytes.', content: { 'image/png': {} } },
          206: { description: 'A range.', headers: { 'Content-Range': { required: true, schema: TEXT } }, content: { 'image/png': {} } },
          ...REFUSALS,
        },
      },
    },
    '/jobs': {
      post: {
        operationId: 'createJob',
        requestBody: { required: true, content: json({ oneOf: [ref('Conversion'), ref('Packing')] }) },
        responses: { 202: { description: 'Accepted.', headers: located, content: json(ref('Job')) }, ...REFUSALS },
      },
    },
    '/jobs/{job_id}': {
      get: {
        operationId: 'getJob',
        parameters: [parameter('job_id', 'path', { type: 'string', pattern: '^j[0-9]+$' })],
        responses: { 200: { description: 'A job.', content: json(ref('Job')) }, ...REFUSALS },
      },
    },
    '/me': {
      get: {
        operationId: 'getMe',
        security: [{ session: [] }],
        responses: { 200: { description: 'The user.', content: json(ref('User')) }, ...REFUSALS },
      },
    },
  },
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Archive-Key' },
      session: { type: 'apiKey', in: 'cookie', name: 'sid' },
    },
    schemas: {
      Problem: { type: 'object', required: ['title', 'status'], properties: { title: TEXT, status: { type: 'integer' } } },
      Meta: {
        type: 'object',
        required: ['title', 'kind'],
        additionalProperties: false,
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 40 },
          kind: { enum: ['photo', 'scan'] },
          password: { type: 'string', minLength: 4, maxLength: 20, writeOnly: true },
        },
      },
      File: {
        type: 'object',
        required: ['id', 'title', 'kind', 'created', 'note', 'attributes', 'origin'],
        properties: {
          id: TEXT,
          title: { type: 'string', minLength: 1 },
          kind: { enum: ['photo', 'scan'] },
          created: { type: 'string', format: 'date-time' },
          note: { type: ['string', 'null'] },
          password: { type: 'string', writeOnly: true },
          attributes: { type: 'object', additionalProperties: { type: 'integer' } },
          origin: {
            type: 'object',
            required: ['device'],
            properties: { device: { type: 'object', required: ['name'], properties: { name: TEXT } } },
          },
        },
      },
      Change: {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { title: { type: 'string', minLength: 1, maxLength: 40 }, note: { type: ['string', 'null'], maxLength: 40 } },
      },
      Step: { type: 'object', required: ['op', 'path'], properties: { op: { enum: ['replace'] }, path: TEXT, value: true } },
      Conversion: {
        type: 'object',
        required: ['type', 'format'],
        additionalProperties: false,
        properties: { type: { const: 'conversion' }, format: { enum: ['webp', 'avif'] } },
      },
      Packing: {
        type: 'object',
        required: ['type', 'level'],
        additionalProperties: false,
        properties: { type: { const: 'packing' }, level: { type: 'integer', minimum: 1, maximum: 9 } },
      },
      Job: {
        type: 'object',
        required: ['id', 'state'],
        properties: { id: TEXT, state: { enum: ['queued', 'running', 'done'] }, result: { type: 'string', format: 'uri' } },
        oneOf: [
          { properties: { state: { enum: ['queued', 'running'] } } },
          { properties: { state: { const: 'done' } }, required: ['result'] },
        ],
      },
      User: { type: 'object', required: ['name', 'theme'], properties: { name: TEXT, theme: { enum: ['light', 'dark'] } } },
    },
  },
});
