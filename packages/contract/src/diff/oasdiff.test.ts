/**
 * Compares our judgement with that of oasdiff (commit 4553c69d of 8 August 2026, `oasdiff checks changelog`), for each of its 509 checks: the
 * ids and levels are theirs, the cases are ours. A difference needs a reason here.
 */
import { expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { replaced } from '../document/replace.ts';
import { diffDocuments } from './diff-documents.ts';

type Schema = Readonly<Record<string, unknown>>;
type Edit = readonly [pointer: string, value: unknown];
/** The level of a check of oasdiff: error, warning, information. */
type Level = 'E' | 'W' | 'I';
/** What we say: some change is breaking, else some change is not compared, else neither. */
type Verdict = 'breaks' | 'unsure' | 'fine';

const json = (schema: unknown): unknown => ({ 'application/json': { schema } });
const object = (properties: Schema): Schema => ({ type: 'object', properties });
const PUT = '/paths/~1things~1{id}/put';
const SENT = `${PUT}/requestBody/content/application~1json/schema`;
const RECEIVED = `${PUT}/responses/200/content/application~1json/schema`;
const HEADERS = `${PUT}/responses/200/headers`;
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  security: [{ Key: [] }],
  paths: {
    '/things/{id}': {
      put: {
        operationId: 'putThing',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: {} },
          { name: 'q', in: 'query', schema: {} },
          { name: 'o', in: 'query', style: 'deepObject', schema: object({ x: {} }) },
          { name: 'H', in: 'header', schema: object({ x: {} }) },
        ],
        requestBody: { content: json(object({ x: {}, y: {} })) },
        responses: {
          200: { description: 'Fine.', headers: { 'X-R': { schema: {} } }, content: json(object({ x: {}, y: {} })) },
          404: { description: 'None.' },
        },
      },
    },
  },
  components: {
    securitySchemes: {
      Key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      Login: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://id.example/token', scopes: { read: '' } } } },
    },
    schemas: { Unused: {} },
  },
};

/** The places of a schema, by a letter, with the beginning of the ids of their checks. */
const PLACES: Readonly<Record<string, readonly [prefix: string, pointer: string]>> = {
  B: ['request-body', SENT],
  P: ['request-property', `${SENT}/properties/x`],
  Q: ['request-parameter', `${PUT}/parameters/1/schema`],
  O: ['request-parameter-property', `${PUT}/parameters/2/schema/properties/x`],
  H: ['request-header-property', `${PUT}/parameters/3/schema/properties/x`],
  b: ['response-body', RECEIVED],
  p: ['response-property', `${RECEIVED}/properties/x`],
  h: ['response-header', `${HEADERS}/X-R/schema`],
};

const [any, text, number, list, map]: readonly Schema[] = [
  {},
  { type: 'string' },
  { type: 'number' },
  { type: 'array' },
  { type: 'object' },
];
const [A, B]: readonly Schema[] = [{ type: 'string' }, { type: 'integer' }];

const THEN: Schema = JSON.parse('{ "if": { "type": "string" }, "then": { "type": "integer" } }');

/** The end of the ids of checks of schemas, the places and levels, and the schema before and after. */
const SCHEMAS: readonly (readonly [suffix: string, levels: string, base: Schema | undefined, before: Schema, after: Schema])[] = [
  ['all-of-added', 'BE PE bI pI', text, {}, { allOf: [{ minLength: 2 }] }],
  ['all-of-added-annotation-only', 'BI PI bI pI', text, {}, { allOf: [{ description: 'x' }] }],
  ['all-of-removed', 'BW PW bI pI', text, { allOf: [{ minLength: 2 }] }, {}],
  ['all-of-removed-annotation-only', 'BI PI bI pI', text, { allOf: [{ description: 'x' }] }, {}],
  ['any-of-added', 'BI PI bI pI', any, { anyOf: [A] }, { anyOf: [A, B] }],
  ['any-of-removed', 'BE PE bI pI', any, { anyOf: [A, B] }, { anyOf: [A] }],
  ['became-enum', 'BE HE QE PE', text, {}, { enum: ['a'] }],
  ['became-not-nullable', 'QE OE BE PE hI pI bI', any, { type: ['string', 'null'] }, { type: 'string' }],
  ['became-nullable', 'QI OI BI PI hE pE bE', any, { type: 'string' }, { type: ['string', 'null'] }],
  ['const-added', 'BE PE bI pI', text, {}, { const: 'a' }],
  ['const-changed', 'BE PE bE pE', text, { const: 'a' }, { const: 'b' }],
  ['const-removed', 'BI PI bE pE', text, { const: 'a' }, {}],
  ['contains-added', 'BE PE bI pI', list, {}, { contains: A }],
  ['contains-removed', 'BI PI bE pE', list, { contains: A }, {}],
  ['content-encoding-changed', 'BE PE bE pE', text, { contentEncoding: 'base64' }, { contentEncoding: 'base32' }],
  ['content-media-type-changed', 'BE PE bE pE', text, { contentMediaType: 'image/png' }, { contentMediaType: 'image/gif' }],
  ['content-schema-added', 'BE PE bI pI', text, {}, { contentSchema: A }],
  ['content-schema-removed', 'BI PI bE pE', text, { contentSchema: A }, {}],
  ['default-value-added', 'QE BI PI bI pI', text, {}, { default: 'a' }],
  ['default-value-changed', 'QE BI PI bI pI', text, { default: 'a' }, { default: 'b' }],
  ['default-value-removed', 'QE BI PI bI pI', text, { default: 'a' }, {}],
  ['dependent-required-added', 'BE PE bI pI', map, {}, { dependentRequired: { a: ['b'] } }],
  ['dependent-required-changed', 'BE PE bE pE', map, { dependentRequired: { a: ['b'] } }, { dependentRequired: { a: ['c'] } }],
  ['dependent-required-removed', 'BI PI bE pE', map, { dependentRequired: { a: ['b'] } }, {}],
  ['dependent-schema-added', 'BE PE bI pI', map, {}, { dependentSchemas: { a: A } }],
  ['dependent-schema-removed', 'BI PI bE pE', map, { dependentSchemas: { a: A } }, {}],
  ['discriminator-added', 'BI PI bI pI', any, {}, { discriminator: { propertyName: 'a' } }],
  [
    'discriminator-mapping-added',
    'BI PI bI pI',
    any,
    { discriminator: { propertyName: 'a' } },
    { discriminator: { propertyName: 'a', mapping: { x: '#' } } },
  ],
  [
    'discriminator-mapping-changed',
    'BI PI bI pI',
    any,
    { discriminator: { propertyName: 'a', mapping: { x: '#' } } },
    { discriminator: { propertyName: 'a', mapping: { x: '#/y' } } },
  ],
  [
    'discriminator-mapping-deleted',
    'BI PI bI pI',
    any,
    { discriminator: { propertyName: 'a', mapping: { x: '#' } } },
    { discriminator: { propertyName: 'a' } },
  ],
  [
    'discriminator-property-name-changed',
    'BI PI bI pI',
    any,
    { discriminator: { propertyName: 'a' } },
    { discriminator: { propertyName: 'b' } },
  ],
  ['discriminator-removed', 'BI PI bI pI', any, { discriminator: { propertyName: 'a' } }, {}],
  ['else-added', 'BE PE bI pI', any, { if: A }, { if: A, else: B }],
  ['else-removed', 'BI PI bE pE', any, { if: A, else: B }, { if: A }],
  ['enum-value-added', 'QI OI PI pW', text, { enum: ['a'] }, { enum: ['a', 'b'] }],
  ['enum-value-removed', 'QE OE PE pI BE', text, { enum: ['a', 'b'] }, { enum: ['a'] }],
  ['exclusive-max-decreased', 'QE BE PE', number, { exclusiveMaximum: 10 }, { exclusiveMaximum: 9 }],
  ['exclusive-max-increased', 'QI BI PI bE pE', number, { exclusiveMaximum: 9 }, { exclusiveMaximum: 10 }],
  ['exclusive-max-set', 'QW BW PW', number, {}, { exclusiveMaximum: 9 }],
  ['exclusive-min-decreased', 'QI BI PI bE pE', number, { exclusiveMinimum: 10 }, { exclusiveMinimum: 9 }],
  ['exclusive-min-increased', 'QE BE PE', number, { exclusiveMinimum: 9 }, { exclusiveMinimum: 10 }],
  ['exclusive-min-set', 'QW BW PW', number, {}, { exclusiveMinimum: 9 }],
  ['if-added', 'BE PE bI pI', any, {}, { if: A }],
  ['if-removed', 'BI PI bE pE', any, { if: A }, {}],
  ['list-of-types-narrowed', 'BE PE bI pI QE OE', any, { type: ['string', 'integer'] }, { type: 'string' }],
  ['list-of-types-widened', 'BI PI bE pE QI OI', any, { type: 'string' }, { type: ['string', 'integer'] }],
  ['max-contains-decreased', 'BE PE bI pI', list, { contains: A, maxContains: 2 }, { contains: A, maxContains: 1 }],
  ['max-contains-increased', 'BI PI bE pE', list, { contains: A, maxContains: 1 }, { contains: A, maxContains: 2 }],
  ['max-decreased', 'QE BE PE', number, { maximum: 10 }, { maximum: 9 }],
  ['max-increased', 'QI BI PI bE pE', number, { maximum: 9 }, { maximum: 10 }],
  ['max-items-decreased', 'QE', list, { maxItems: 10 }, { maxItems: 9 }],
  ['max-items-increased', 'QI', list, { maxItems: 9 }, { maxItems: 10 }],
  ['max-length-decreased', 'QE BE PE', text, { maxLength: 10 }, { maxLength: 9 }],
  ['max-length-increased', 'QI BI PI bE pE', text, { maxLength: 9 }, { maxLength: 10 }],
  ['max-length-set', 'QW BW PW', text, {}, { maxLength: 9 }],
  ['max-length-unset', 'bE pE', text, { maxLength: 9 }, {}],
  ['max-set', 'QW BW PW', number, {}, { maximum: 9 }],
  ['min-contains-decreased', 'BI PI bE pE', list, { contains: A, minContains: 2 }, { contains: A, minContains: 1 }],
  ['min-contains-increased', 'BE PE bI pI', list, { contains: A, minContains: 1 }, { contains: A, minContains: 2 }],
  ['min-decreased', 'QI BI PI bE pE', number, { minimum: 10 }, { minimum: 9 }],
  ['min-increased', 'QE BE PE', number, { minimum: 9 }, { minimum: 10 }],
  ['min-items-decreased', 'QI bE pE', list, { minItems: 10 }, { minItems: 9 }],
  ['min-items-increased', 'QE BE PE', list, { minItems: 9 }, { minItems: 10 }],
  ['min-items-set', 'QW BW PW', list, {}, { minItems: 9 }],
  ['min-items-unset', 'bE pE', list, { minItems: 9 }, {}],
  ['min-length-decreased', 'QI BI PI bE pE', text, { minLength: 10 }, { minLength: 9 }],
  ['min-length-increased', 'QE BE PE', text, { minLength: 9 }, { minLength: 10 }],
  ['min-set', 'QW BW PW', number, {}, { minimum: 9 }],
  ['one-of-added', 'BI PI bE pE', any, { oneOf: [A] }, { oneOf: [A, B] }],
  ['one-of-removed', 'BE PE bI pI', any, { oneOf: [A, B] }, { oneOf: [A] }],
  ['pattern-added', 'QE PE pI', text, {}, { pattern: 'a' }],
  ['pattern-changed', 'QW PW pI', text, { pattern: 'a' }, { pattern: 'b' }],
  ['pattern-generalized', 'QI PI', text, { pattern: 'a' }, { pattern: '.*' }],
  ['pattern-property-added', 'BE PE bI pI', map, {}, { patternProperties: { '^a': A } }],
  ['pattern-property-removed', 'BI PI bE pE', map, { patternProperties: { '^a': A } }, {}],
  ['pattern-removed', 'QI PI pI', text, { pattern: 'a' }, {}],
  ['prefix-items-added', 'BI PI bE pE', list, {}, { prefixItems: [A] }],
  ['prefix-items-removed', 'BE PE bI pI', list, { prefixItems: [A] }, {}],
  ['property-names-added', 'BE PE bI pI', map, {}, { propertyNames: { maxLength: 3 } }],
  ['property-names-removed', 'BI PI bE pE', map, { propertyNames: { maxLength: 3 } }, {}],
  ['then-added', 'BE PE bI pI', any, { if: A }, THEN],
  ['then-removed', 'BI PI bE pE', any, THEN, { if: A }],
  ['type-changed', 'QE OW BE PE hE bE pE', any, { type: 'string' }, { type: 'object' }],
  ['type-compatible', 'BI PI hI bI pI', any, { type: 'string' }, { type: 'string', description: 'x' }],
  ['type-generalized', 'QI OI BI PI hE bE pE', any, { type: 'integer' }, { type: 'number' }],
  ['type-specialized', 'OE hI bI pI', any, { type: 'number' }, { type: 'integer' }],
  ['unevaluated-items-added', 'BE PE bI pI', list, {}, { unevaluatedItems: false }],
  ['unevaluated-items-removed', 'BI PI bE pE', list, { unevaluatedItems: false }, {}],
  ['unevaluated-properties-added', 'BE PE bI pI', map, {}, { unevaluatedProperties: false }],
  ['unevaluated-properties-removed', 'BI PI bE pE', map, { unevaluatedProperties: false }, {}],
  ['wrapped-in-one-of', 'BE bE', any, { type: 'string' }, { oneOf: [{ type: 'string' }, { type: 'integer' }] }],
];

const required = (...names: readonly string[]): Schema => ({ ...object({ x: {}, y: {} }), required: names });
const WITH_LOGIN: Edit = ['/security', [{ Login: ['read'] }]];
const FLOW = '/components/securitySchemes/Login/flows/clientCredentials';
/** The other checks, each with the edits that lead to the document before and after. */
const OTHERS: readonly (readonly [id: string, level: Level, before: readonly Edit[], after: readonly Edit[]])[] = [
  ['response-header-added', 'I', [], [[`${HEADERS}/X-New`, { schema: {} }]]],
  ['request-body-added-optional', 'I', [[`${PUT}/requestBody`, undefined]], []],
  ['request-body-added-required', 'E', [[`${PUT}/requestBody`, undefined]], [[`${PUT}/requestBody/required`, true]]],
  ['request-body-removed', 'E', [], [[`${PUT}/requestBody`, undefined]]],
  ['request-body-became-optional', 'I', [[`${PUT}/requestBody/required`, true]], []],
  ['request-body-became-required', 'E', [], [[`${PUT}/requestBody/required`, true]]],
  ['request-parameter-became-optional', 'I', [[`${PUT}/parameters/1/required`, true]], []],
  ['request-parameter-became-required', 'E', [], [[`${PUT}/parameters/1/required`, true]]],
  ['request-parameter-removed', 'W', [], [[`${PUT}/parameters/3`, { name: 'id', in: 'path', required: true, schema: {} }]]],
  ['request-header-property-became-required', 'E', [], [[`${PUT}/parameters/3/schema/required`, ['x']]]],
  ['new-required-request-header-property', 'E', [], [[`${PUT}/parameters/3/schema`, { ...object({ x: {}, z: {} }), required: ['z'] }]]],
  ['request-property-became-optional', 'I', [[SENT, required('x')]], []],
  ['request-property-became-required', 'E', [], [[SENT, required('x')]]],
  [
    'request-property-became-required-with-default',
    'E',
    [[`${SENT}/properties/x`, { default: 1 }]],
    [[SENT, { ...object({ x: { default: 1 }, y: {} }), required: ['x'] }]],
  ],
  ['request-property-removed', 'W', [], [[`${SENT}/properties/x`, undefined]]],
  ['new-required-request-property', 'E', [], [[SENT, { ...object({ x: {}, y: {}, z: {} }), required: ['z'] }]]],
  ['new-required-request-property-with-default', 'E', [], [[SENT, { ...object({ x: {}, y: {}, z: { default: 1 } }), required: ['z'] }]]],
  ['new-optional-request-property', 'I', [], [[`${SENT}/properties/z`, {}]]],
  ['response-property-became-optional', 'E', [[RECEIVED, required('x')]], []],
  ['response-property-became-required', 'I', [], [[RECEIVED, required('x')]]],
  ['response-header-became-optional', 'E', [[`${HEADERS}/X-R/required`, true]], []],
  ['required-response-header-removed', 'E', [[`${HEADERS}/X-R/required`, true]], [[HEADERS, undefined]]],
  ['optional-response-header-removed', 'W', [], [[HEADERS, undefined]]],
  ['response-required-property-removed', 'E', [[RECEIVED, required('x')]], [[RECEIVED, object({ y: {} })]]],
  ['response-required-property-added', 'I', [], [[RECEIVED, { ...object({ x: {}, y: {}, z: {} }), required: ['z'] }]]],
  ['response-optional-property-removed', 'W', [], [[`${RECEIVED}/properties/x`, undefined]]],
  ['response-optional-property-added', 'I', [], [[`${RECEIVED}/properties/z`, {}]]],
  ['request-body-media-type-added', 'I', [], [[`${PUT}/requestBody/content/text~1csv`, {}]]],
  ['request-body-media-type-removed', 'E', [[`${PUT}/requestBody/content/text~1csv`, {}]], []],
  ['request-body-media-type-schema-added', 'E', [[SENT, undefined]], []],
  ['request-body-media-type-schema-removed', 'I', [], [[SENT, undefined]]],
  ['response-body-media-type-schema-added', 'I', [[RECEIVED, undefined]], []],
  ['response-body-media-type-schema-removed', 'W', [], [[RECEIVED, undefined]]],
  ['response-media-type-added', 'I', [], [[`${PUT}/responses/200/content/text~1csv`, {}]]],
  ['response-media-type-removed', 'E', [[`${PUT}/responses/200/content/text~1csv`, {}]], []],
  ['response-media-type-name-changed', 'I', [], [[`${PUT}/responses/200/content`, { 'application/problem+json': { schema: {} } }]]],
  [
    'response-media-type-name-generalized',
    'E',
    [[`${PUT}/responses/200/content`, { 'application/problem+json': {} }]],
    [[`${PUT}/responses/200/content`, { 'application/json': {} }]],
  ],
  [
    'response-media-type-name-specialized',
    'I',
    [[`${PUT}/responses/200/content`, { 'application/json': {} }]],
    [[`${PUT}/responses/200/content`, { 'application/problem+json': {} }]],
  ],
  ['response-mediatype-enum-value-removed', 'I', [[RECEIVED, { enum: ['a', 'b'] }]], [[RECEIVED, { enum: ['a'] }]]],
  ['response-success-status-removed', 'E', [], [[`${PUT}/responses/200`, undefined]]],
  ['response-success-status-added', 'I', [], [[`${PUT}/responses/201`, { description: 'New.' }]]],
  ['response-non-success-status-removed', 'I', [], [[`${PUT}/responses/404`, undefined]]],
  ['response-non-success-status-added', 'I', [], [[`${PUT}/responses/409`, { description: 'Conflict.' }]]],
  [
    'request-parameter-x-extensible-enum-value-removed',
    'E',
    [[`${PUT}/parameters/1/schema`, { 'x-extensible-enum': ['a', 'b'] }]],
    [[`${PUT}/parameters/1/schema`, { 'x-extensible-enum': ['a'] }]],
  ],
  [
    'request-property-x-extensible-enum-value-removed',
    'E',
    [[`${SENT}/properties/x`, { 'x-extensible-enum': ['a', 'b'] }]],
    [[`${SENT}/properties/x`, { 'x-extensible-enum': ['a'] }]],
  ],
  ['new-required-request-parameter', 'E', [], [[`${PUT}/parameters/4`, { name: 'n', in: 'query', required: true, schema: {} }]]],
  ['new-optional-request-parameter', 'I', [], [[`${PUT}/parameters/4`, { name: 'n', in: 'query', schema: {} }]]],
  [
    'new-required-request-default-parameter-to-existing-path',
    'E',
    [],
    [[`${PUT}/parameters/4`, { name: 'n', in: 'query', required: true, schema: { default: 1 } }]],
  ],
  [
    'new-optional-request-default-parameter-to-existing-path',
    'I',
    [],
    [[`${PUT}/parameters/4`, { name: 'n', in: 'query', schema: { default: 1 } }]],
  ],
  ['new-request-path-parameter', 'E', [], [[`${PUT}/parameters/4`, { name: 'n', in: 'path', required: true, schema: {} }]]],
  ['endpoint-added', 'I', [], [['/paths/~1more', { get: { operationId: 'more', responses: {} } }]]],
  ['webhook-added', 'I', [], [['/webhooks', { paid: {} }]]],
  ['webhook-removed', 'E', [['/webhooks', { paid: {} }]], []],
  ['api-schema-removed', 'I', [], [['/components/schemas/Unused', undefined]]],
  ['api-operation-id-removed', 'I', [], [[`${PUT}/operationId`, undefined]]],
  ['api-operation-id-added', 'I', [[`${PUT}/operationId`, undefined]], []],
  ['api-tag-added', 'I', [], [[`${PUT}/tags`, ['a']]]],
  ['api-tag-removed', 'I', [[`${PUT}/tags`, ['a']]], []],
  ['api-security-component-added', 'I', [], [['/components/securitySchemes/More', { type: 'http', scheme: 'basic' }]]],
  ['api-security-component-removed', 'I', [], [['/components/securitySchemes/Login', undefined]]],
  ['api-security-component-type-changed', 'I', [], [['/components/securitySchemes/Login', { type: 'http', scheme: 'basic' }]]],
  ['api-security-component-oauth-url-changed', 'I', [[`${FLOW}/authorizationUrl`, 'a']], [[`${FLOW}/authorizationUrl`, 'b']]],
  ['api-security-component-oauth-token-url-changed', 'I', [], [[`${FLOW}/tokenUrl`, 'b']]],
  ['api-security-component-oauth-scope-added', 'I', [], [[`${FLOW}/scopes/write`, '']]],
  ['api-security-component-oauth-scope-removed', 'I', [], [[`${FLOW}/scopes`, {}]]],
  ['api-security-component-oauth-scope-changed', 'I', [], [[`${FLOW}/scopes/read`, 'x']]],
  ['api-security-added', 'I', [[`${PUT}/security`, []]], [[`${PUT}/security`, [{ Key: [] }]]]],
  ['api-security-removed', 'I', [[`${PUT}/security`, [{ Key: [] }]]], [[`${PUT}/security`, []]]],
  ['api-security-scope-added', 'I', [[`${PUT}/security`, [{ Login: [] }]]], [[`${PUT}/security`, [{ Login: ['read'] }]]]],
  ['api-security-scope-removed', 'I', [[`${PUT}/security`, [{ Login: ['read'] }]]], [[`${PUT}/security`, [{ Login: [] }]]]],
  ['api-global-security-added', 'I', [['/security', []]], []],
  ['api-global-security-removed', 'I', [], [['/security', []]]],
  ['api-global-security-scope-added', 'I', [['/security', [{ Login: [] }]]], [WITH_LOGIN]],
  ['api-global-security-scope-removed', 'I', [WITH_LOGIN], [['/security', [{ Login: [] }]]]],
];

/** Checks of properties with `readOnly` or `writeOnly`, made of their parts. */
const ACCESS: readonly (readonly [id: string, level: Level, before: readonly Edit[], after: readonly Edit[]])[] = (
  [
    ['request', SENT],
    ['response', RECEIVED],
  ] as const
).flatMap(([direction, at]) =>
  (['optional', 'required'] as const).flatMap((presence) =>
    (['read-only', 'write-only'] as const).flatMap((access) => {
      const keyword = access === 'read-only' ? 'readOnly' : 'writeOnly';
      const names = presence === 'required' ? ['x'] : [];
      const plain: Edit = [at, { ...object({ x: {} }), required: names }];
      const marked: Edit = [at, { ...object({ x: { [keyword]: true } }), required: names }];
      const id = `${direction}-${presence}-property-became-`;
      const level = 'I';
      return [
        [id + access, level, [plain], [marked]],
        [`${id}not-${access}`, `${id}not-${access}` === 'response-required-property-became-not-write-only' ? 'W' : 'I', [marked], [plain]],
      ] as const;
    }),
  ),
);
const hidden = (schema: Schema): Edit => [`${SENT}/properties/x`, { readOnly: true, ...schema }];
const secret = (schema: Schema, ...names: readonly string[]): Edit => [
  RECEIVED,
  { ...object({ x: { writeOnly: true, ...schema } }), required: names },
];
const HIDDEN: typeof OTHERS = [
  ['request-read-only-property-enum-value-removed', 'I', [hidden({ enum: ['a', 'b'] })], [hidden({ enum: ['a'] })]],
  ['request-read-only-property-max-decreased', 'I', [hidden({ maximum: 2 })], [hidden({ maximum: 1 })]],
  ['request-read-only-property-exclusive-max-decreased', 'I', [hidden({ exclusiveMaximum: 2 })], [hidden({ exclusiveMaximum: 1 })]],
  ['request-read-only-property-max-length-decreased', 'I', [hidden({ maxLength: 2 })], [hidden({ maxLength: 1 })]],
  ['request-read-only-property-min-increased', 'I', [hidden({ minimum: 1 })], [hidden({ minimum: 2 })]],
  ['request-read-only-property-exclusive-min-increased', 'I', [hidden({ exclusiveMinimum: 1 })], [hidden({ exclusiveMinimum: 2 })]],
  ['response-write-only-property-enum-value-added', 'I', [secret({ enum: ['a'] })], [secret({ enum: ['a', 'b'] })]],
  ['response-write-only-property-became-optional', 'I', [secret({}, 'x')], [secret({})]],
  ['response-write-only-property-became-required', 'I', [secret({})], [secret({}, 'x')]],
  ['response-optional-write-only-property-added', 'I', [[RECEIVED, object({})]], [secret({})]],
  ['response-optional-write-only-property-removed', 'I', [secret({})], [[RECEIVED, object({})]]],
  ['response-required-write-only-property-added', 'I', [[RECEIVED, object({})]], [secret({}, 'x')]],
  ['response-required-write-only-property-removed', 'I', [secret({}, 'x')], [[RECEIVED, object({})]]],
];

/**
 * Checks of the policy of a provider: dates of removal, levels of stability, numbers of versions. We do not judge them, because requests
 * and responses are the same. A removed operation is breaking, announced or not.
 */
const POLICY = `
  api-deprecated-sunset-missing api-deprecated-sunset-parse api-invalid-stability-level api-major-version-not-bumped
  api-path-removed-before-sunset api-path-removed-with-deprecation api-path-removed-without-deprecation api-path-sunset-parse
  api-removed-before-sunset api-removed-with-deprecation api-removed-without-deprecation api-stability-decreased api-stability-increased
  api-sunset-date-changed-too-small api-sunset-date-too-small api-version-decreased api-version-not-bumped endpoint-deprecated
  endpoint-deprecated-with-sunset endpoint-reactivated request-parameter-deprecated request-parameter-deprecated-sunset-missing
  request-parameter-reactivated request-parameter-removed-before-sunset request-parameter-removed-with-deprecation
  request-parameter-sunset-date-changed-too-small request-parameter-sunset-date-too-small request-parameter-sunset-deleted
  request-parameter-sunset-parse request-property-deprecated request-property-deprecated-sunset-invalid
  request-property-deprecated-sunset-missing request-property-deprecated-with-sunset request-property-reactivated
  request-property-stability-decreased request-property-stability-increased request-property-sunset-date-too-small
  response-property-deprecated response-property-deprecated-sunset-invalid response-property-deprecated-sunset-missing
  response-property-deprecated-with-sunset response-property-reactivated response-property-stability-decreased
  response-property-stability-increased response-property-sunset-date-too-small sunset-deleted
`;

/** Where we differ, and why. */
const DIFFERENT: readonly (readonly [ids: RegExp, ours: Verdict, why: string])[] = [
  [/^request-.*all-of-removed$/, 'fine', 'We compare what the parts of allOf allow together: fewer parts allow more requests.'],
  [/^response-.*all-of-removed$/, 'breaks', 'Fewer parts of allOf allow more responses.'],
  [/^response-.*any-of-added$/, 'breaks', 'A reader gets values of an alternative that it does not know, as with oneOf.'],
  [/^request-(?:body|property)-default-value/, 'breaks', 'Calls without the value get another result, as with parameters.'],
  [/^response-property-pattern-changed$/, 'breaks', 'A text can be outside the earlier pattern.'],
  [/pattern-generalized$/, 'breaks', 'We do not decide whether one regular expression includes another.'],
  [/^response-property-pattern-removed$/, 'breaks', 'A text can be outside the earlier pattern, as with other limits.'],
  [/^request-.*prefix-items-added$/, 'breaks', 'An item that could have any value must match a schema now.'],
  [/^request-.*prefix-items-removed$/, 'fine', 'An item that had to match a schema can have any value now.'],
  [/^response-.*prefix-items-added$/, 'fine', 'Items have fewer values than before.'],
  [/^response-.*prefix-items-removed$/, 'breaks', 'Items can have any value now.'],
  [/dependent-required-changed$|pattern-property-/, 'unsure', 'It may allow less, or more, than before.'],
  [
    /discriminator-(?:added|removed|property-name-changed)$|discriminator-mapping-changed$/,
    'breaks',
    'Generated code chooses the type by it.',
  ],
  [/^request-.*discriminator-mapping-deleted$/, 'breaks', 'The service may refuse the value.'],
  [/^response-.*discriminator-mapping-added$/, 'breaks', 'A reader gets a value that it does not know.'],
  [/^webhook-/, 'unsure', 'We do not compare webhooks.'],
  [/x-extensible-enum/, 'fine', 'We read the mark x-seen for open enumerations; other extensions are documentation.'],
  [/^response-media-type-name-(?:changed|specialized)$/, 'breaks', 'A client chooses its parser by the exact media type.'],
  [/^api-operation-id-/, 'breaks', 'The function of the generated client has another name.'],
  [/^api-(?:global-)?security-(?:scope-)?added$/, 'breaks', 'Requests of existing clients are refused with 401 or 403.'],
  [/^request-.*-became-read-only$/, 'breaks', 'Code that sends the property does not compile after the next generation.'],
  [
    /^request-required-property-became-not-read-only$/,
    'breaks',
    'Calls now have to send a property that they did not have to send before.',
  ],
  [/^response-.*-became-write-only$/, 'breaks', 'Responses no longer have the property.'],
  [/^response-required-property-became-not-write-only$/, 'fine', 'Responses have one property more.'],
];

interface Case {
  readonly id: string;
  readonly level: Level;
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
}

function edited(...edits: readonly Edit[]): OpenApiDocument {
  const copy: unknown = JSON.parse(JSON.stringify(DOCUMENT));
  return parseDocument(edits.reduce<unknown>((document, [pointer, value]) => replaced(document, pointer, value), copy));
}

function isLevel(letter: string | undefined): letter is Level {
  return letter === 'E' || letter === 'W' || letter === 'I';
}

const CASES: readonly Case[] = [
  ...SCHEMAS.flatMap(([suffix, levels, base, before, after]) =>
    levels.split(' ').flatMap(([place = '', level]): readonly Case[] => {
      const [prefix, pointer] = PLACES[place] ?? ['', ''];
      if (!isLevel(level)) throw new Error(`${suffix} has an unknown level.`);
      const [was, is] = [before, after].map((schema) => edited([pointer, { ...base, ...schema }]));
      return was === undefined || is === undefined ? [] : [{ id: `${prefix}-${suffix}`, level, before: was, after: is }];
    }),
  ),
  ...[...OTHERS, ...ACCESS, ...HIDDEN].map(([id, level, before, after]) => ({
    id,
    level,
    before: edited(...before),
    after: edited(...after),
  })),
];

function verdictOf({ before, after }: Case): Verdict {
  const impacts = new Set(diffDocuments(before, after).map(({ impact }) => impact));
  return impacts.has('breaking') || impacts.has('client-breaking') ? 'breaks' : impacts.has('uncompared') ? 'unsure' : 'fine';
}

const SAME: Readonly<Record<Level, readonly Verdict[]>> = { E: ['breaks'], W: ['breaks', 'unsure'], I: ['fine'] };

test.each(CASES)('agrees with oasdiff about $id, or differs for a reason', (one) => {
  const ours = verdictOf(one);
  const reasons = DIFFERENT.filter(([ids]) => ids.test(one.id)).map(([, verdict]) => verdict);
  expect(reasons).toEqual(SAME[one.level].includes(ours) ? [] : [ours]);
});

test('these tests have a case for each check of oasdiff that is not about the policy of a provider', () => {
  const ids = [...CASES.map(({ id }) => id), ...POLICY.trim().split(/\s+/)];
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBe(509);
});

test('each difference is about some check', () => {
  expect(DIFFERENT.filter(([ids]) => !CASES.some(({ id }) => ids.test(id))).map(String)).toEqual([]);
});

test('an announced removal is as breaking as another one, and a deprecation is documentation', () => {
  expect(diffDocuments(edited([`${PUT}/deprecated`, true]), edited(['/paths', {}])).map(({ impact }) => impact)).toEqual(['breaking']);
  expect(diffDocuments(edited(), edited([`${PUT}/deprecated`, true])).map(({ impact }) => impact)).toEqual(['documentation']);
});
