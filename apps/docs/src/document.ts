/** The parts of the bundles that the site reads. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import type { Provenance } from './provenance.ts';
import type { Reference } from './references.ts';

interface ComponentReference {
  readonly $ref: string;
}

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  format?: string;
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  required?: readonly string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  dependentSchemas?: Record<string, Schema>;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  'x-provenance'?: Provenance;
  'x-constraints'?: Provenance | Record<string, Provenance>;
  'x-expected'?: string;
  'x-origin'?: 'extension';
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
  'x-provenance'?: Provenance;
}

export interface Example {
  summary?: string;
  value: unknown;
}

export interface Media {
  schema?: Schema;
  examples?: Record<string, Example | ComponentReference>;
}

export interface Body {
  description?: string;
  content?: Record<string, Media>;
  headers?: Record<string, Header | ComponentReference>;
  'x-provenance'?: Provenance;
  'x-origin'?: 'extension';
}

export interface Header {
  description?: string;
  'x-provenance'?: Provenance;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: readonly string[];
  parameters?: (Parameter | ComponentReference)[];
  requestBody?: Body;
  responses: Record<string, Body | ComponentReference>;
  servers?: Server[];
  'x-origin'?: 'extension';
  'x-provenance'?: Provenance;
  'x-billable'?: boolean;
  'x-destructive'?: boolean;
  'x-retry'?: 'safe' | 'never';
  'x-read-only'?: boolean;
  'x-sandbox-only'?: boolean;
  'x-badges'?: readonly { name: string; color: string }[];
  'x-codeSamples'?: readonly { lang: string; label: string; source: string }[];
}

export interface Server {
  readonly url: string;
  readonly description: string;
}

export interface Components {
  schemas: Record<string, Schema>;
  parameters: Record<string, Parameter>;
  responses: Record<string, Body>;
  examples: Record<string, Example>;
  headers?: Record<string, Header>;
}

type PathItem = Record<string, Operation>;

export interface OpenApi {
  info: { title: string; version: string; summary?: string; description: string };
  servers: Server[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  /** The requests that the service sends. */
  webhooks?: Record<string, PathItem>;
  components: Components;
}

/** An operation with its place in the document. */
export interface PlacedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);

/** @throws Error if the bundle is not built; its message is for the user. */
async function readBundle(specifier: string): Promise<string> {
  try {
    return await readFile(fileURLToPath(import.meta.resolve(specifier)), 'utf8');
  } catch {
    throw new Error(`The bundle ${specifier} is missing. Generate it: npx -y pnpm@12 generate`);
  }
}

export async function readDocument({ bundle }: Pick<Reference, 'bundle'>): Promise<OpenApi> {
  return JSON.parse(await readBundle(`${bundle}.json`));
}

/** Every operation, in the order of the document. */
export function operationsOf({ paths }: OpenApi): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({ id: operation.operationId, method: method.toUpperCase(), path, operation })),
  );
}

/** The component that a reference names, from the components of its kind. */
function componentOf<Part>(parts: Readonly<Record<string, Part>>, { $ref }: ComponentReference): Part {
  const found = parts[$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`The document refers to ${$ref}, which does not exist.`);
  return found;
}

function isReference(part: object): part is ComponentReference {
  return '$ref' in part;
}

export function parameterOf({ components }: OpenApi, part: Parameter | ComponentReference): Parameter {
  return isReference(part) ? componentOf(components.parameters, part) : part;
}

export function responseOf({ components }: OpenApi, part: Body | ComponentReference): Body {
  return isReference(part) ? componentOf(components.responses, part) : part;
}

export function headerOf({ components }: OpenApi, part: Header | ComponentReference): Header {
  return isReference(part) ? componentOf(components.headers ?? {}, part) : part;
}

export function exampleOf({ components }: OpenApi, part: Example | ComponentReference): Example {
  return isReference(part) ? componentOf(components.examples, part) : part;
}

/** The schema itself, with the annotations that are next to a reference to it. */
export function schemaOf({ components }: Pick<OpenApi, 'components'>, schema: Schema): Schema {
  const { $ref, ...annotations } = schema;
  return $ref === undefined ? schema : { ...schemaOf({ components }, componentOf(components.schemas, { $ref })), ...annotations };
}
