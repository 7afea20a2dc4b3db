import { parseDocument } from '@reseller/contract';

function json(schema: unknown): Readonly<Record<string, unknown>> {
  return { 'application/json': { schema } };
}

function ref(name: string): Readonly<Record<string, string>> {
  return { $ref: `#/components/schemas/${name}` };
}

const problem = { description: 'Refused.', content: { 'application/problem+json': { schema: ref('Problem') } } };
const REFUSALS = { 400: problem, 401: problem, 404: problem, 405: problem, 422: problem };

function pathParameter(name: string, pattern: string): Readonly<Record<string, unknown>> {
  return { name, in: 'path', required: true, schema: { type: 'string', pattern } };
}

const projectId = pathParameter('project_id', '^prj_[0-9a-f]{8}$');
const ifMatch = { name: 'If-Match', in: 'header', required: true, schema: { type: 'string' } };
const tagged = { ETag: { required: true, schema: { type: 'string', pattern: '^"[0-9a-f]+"$' } } };

/**
 * A document in the style of a modern JSON API: bearer token, entity tags, cursors, work that goes on after the response, alternatives with
 * a discriminator, several media types, and parameters in headers and cookies. It has few examples.
 */
export const WORKSHOP = parseDocument({
  openapi: '3.1.0',
  info: { title: 'Workshop', version: '3' },
  security: [{ bearer: [] }],
  paths: {
    '/projects': {
      get: {
        operationId: 'listProjects',
        parameters: [
          { name: 'cursor', in: 'query', schema: { type: 'string' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50 } },
          { name: 'sort', in: 'query', schema: { type: 'string', enum: ['name', 'created', 'budget'] } },
        ],
        responses: {
          200: {
            description: 'A page of projects.',
            headers: {
              'X-Total': { required: true, schema: { type: 'integer' } },
              'X-Load': { required: true, schema: { type: 'number', minimum: 0, maximum: 1 } },
              'X-As-Of': { required: true, schema: { type: 'string', format: 'date' } },
              'X-Truncated': { required: true, schema: { type: 'boolean' } },
              'X-Sorts': { required: true, schema: { type: 'array', items: { type: 'string', enum: ['name', 'created', 'budget'] } } },
              'X-Window': {
                required: true,
                schema: {
                  type: 'object',
                  required: ['from', 'size'],
                  properties: { from: { type: 'integer' }, size: { type: 'integer' } },
                },
              },
            },
            content: json({
              type: 'object',
              required: ['items', 'next_cursor'],
              properties: { items: { type: 'array', items: ref('Project') }, next_cursor: { type: ['string', 'null'] } },
            }),
          },
          ...REFUSALS,
        },
      },
      post: {
        operationId: 'createProject',
        requestBody: { required: true, content: json(ref('NewProject')) },
        responses: { 201: { description: 'Created.', headers: tagged, content: json(ref('Project')) }, ...REFUSALS },
      },
    },
    '/projects/{project_id}': {
      parameters: [projectId],
      get: {
        operationId: 'getProject',
        responses: { 200: { description: 'A project.', headers: tagged, content: json(ref('Project')) }, ...REFUSALS },
      },
      patch: {
        operationId: 'changeProject',
        parameters: [ifMatch],
        requestBody: { required: true, content: json(ref('ProjectChange')) },
        responses: {
          200: { description: 'Changed.', headers: tagged, content: json(ref('Project')) },
          412: problem,
          428: problem,
          ...REFUSALS,
        },
      },
      delete: { operationId: 'deleteProject', responses: { 204: { description: 'Deleted.' }, ...REFUSALS } },
    },
    '/projects/{project_id}/report': {
      parameters: [projectId],
      get: {
        operationId: 'getReport',
        responses: {
          200: {
            description: 'A report.',
            content: { ...json(ref('Report')), 'text/csv': { schema: { type: 'string' } } },
          },
          406: problem,
          ...REFUSALS,
        },
      },
    },
    '/projects/{project_id}/assets': {
      parameters: [projectId],
      get: {
        operationId: 'listAssets',
        responses: { 200: { description: 'Assets.', content: json({ type: 'array', items: ref('Asset') }) }, ...REFUSALS },
      },
      post: {
        operationId: 'addAsset',
        requestBody: { required: true, content: json(ref('NewAsset')) },
        responses: { 201: { description: 'Added.', content: json(ref('Asset')) }, ...REFUSALS },
      },
    },
    '/projects/{project_id}/assets/{asset_id}': {
      parameters: [projectId, pathParameter('asset_id', '^ast_[0-9]+$')],
      delete: { operationId: 'removeAsset', responses: { 204: { description: 'Removed.' }, ...REFUSALS } },
    },
    '/projects/{project_id}/export': {
      parameters: [projectId],
      post: {
        operationId: 'exportProject',
        responses: {
          202: {
            description: 'The export has begun.',
            headers: { Location: { required: true, schema: { type: 'string', format: 'uri-reference' } } },
            content: json(ref('Job')),
          },
          ...REFUSALS,
        },
      },
    },
    '/jobs/{job_id}': {
      parameters: [pathParameter('job_id', '^job_[0-9]+$')],
      get: { operationId: 'getJob', responses: { 200: { description: 'A job.', content: json(ref('Job')) }, ...REFUSALS } },
    },
    '/rates': {
      get: {
        operationId: 'getRates',
        parameters: [
          { name: 'X-Purpose', in: 'header', required: true, schema: { type: 'string', pattern: '^[a-z]{3}-[0-9]{2}$' } },
          { name: 'region', in: 'cookie', required: true, schema: { type: 'string', enum: ['north', 'south'] } },
        ],
        responses: { 200: { description: 'Rates.', content: json(ref('Rates')) }, ...REFUSALS },
      },
    },
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Problem: { type: 'object', required: ['title', 'status'], properties: { title: { type: 'string' }, status: { type: 'integer' } } },
      Kind: { type: 'string', enum: ['build', 'repair', 'design'] },
      NewProject: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'kind', 'contact'],
        properties: {
          id: { type: 'string', readOnly: true },
          name: { type: 'string', minLength: 1, maxLength: 60 },
          kind: ref('Kind'),
          description: { type: ['string', 'null'], maxLength: 200 },
          budget: { type: 'number', minimum: 0, maximum: 10_000 },
          tags: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 20 } },
          starts: { type: 'string', format: 'date' },
          contact: {
            type: 'object',
            additionalProperties: false,
            required: ['email'],
            properties: { email: { type: 'string', format: 'email' }, phone: { type: 'string', maxLength: 20 } },
          },
          access_code: { type: 'string', minLength: 8, maxLength: 40, writeOnly: true },
        },
      },
      ProjectChange: {
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        required: ['name'],
        properties: { name: { type: 'string', minLength: 1, maxLength: 60 }, budget: { type: 'number', minimum: 0, maximum: 10_000 } },
      },
      Project: {
        type: 'object',
        required: ['id', 'name', 'kind', 'description', 'budget', 'tags', 'starts', 'contact', 'created', 'revision'],
        properties: {
          id: { type: 'string', pattern: '^prj_[0-9a-f]{8}$', readOnly: true },
          name: { type: 'string' },
          kind: ref('Kind'),
          description: { type: ['string', 'null'] },
          budget: { type: ['number', 'null'] },
          tags: { type: 'array', items: { type: 'string' } },
          starts: { type: ['string', 'null'], format: 'date' },
          contact: { type: 'object', required: ['email'], properties: { email: { type: 'string' }, phone: { type: 'string' } } },
          access_code: { type: 'string', writeOnly: true },
          created: { type: 'string', format: 'date-time' },
          revision: { type: 'integer' },
        },
      },
      Report: { type: 'object', required: ['lines'], properties: { lines: { type: 'array', items: { type: 'string' } } } },
      Image: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'width'],
        properties: { id: { type: 'string', readOnly: true }, type: { const: 'image' }, width: { type: 'integer', minimum: 1 } },
      },
      Text: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'pages'],
        properties: { id: { type: 'string', readOnly: true }, type: { const: 'text' }, pages: { type: 'integer', minimum: 1 } },
      },
      Link: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'href'],
        properties: { id: { type: 'string', readOnly: true }, type: { const: 'link' }, href: { type: 'string', format: 'uri' } },
      },
      NewAsset: {
        oneOf: [ref('Image'), ref('Text'), ref('Link')],
        discriminator: {
          propertyName: 'type',
          mapping: { image: '#/components/schemas/Image', text: '#/components/schemas/Text', link: '#/components/schemas/Link' },
        },
      },
      Asset: {
        oneOf: [ref('Image'), ref('Text'), ref('Link')],
        discriminator: {
          propertyName: 'type',
          mapping: { image: '#/components/schemas/Image', text: '#/components/schemas/Text', link: '#/components/schemas/Link' },
        },
      },
      Job: {
        type: 'object',
        required: ['id', 'state'],
        properties: {
          id: { type: 'string', pattern: '^job_[0-9]+$' },
          state: { type: 'string', enum: ['pending', 'running', 'done', 'failed'] },
          file: { type: 'string', format: 'uri' },
        },
        anyOf: [{ properties: { state: { enum: ['pending', 'running', 'failed'] } } }, { required: ['file'] }],
      },
      Rates: { type: 'object', required: ['hourly'], properties: { hourly: { type: 'number' } } },
    },
  },
});
