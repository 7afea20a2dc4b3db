/** Samples of each operation, made from the examples of its document. */
import { EXTENSION_PLACES, PLACES } from '@reseller/client/places';
import type { Places } from '@reseller/client/places';

import { exampleOf, parameterOf } from './document.ts';
import type { OpenApi, PlacedOperation } from './document.ts';
import { goSample, phpSample, pythonSample } from './languages.ts';
import { credentialHeader } from './references.ts';
import type { Reference } from './references.ts';

/** The request that the samples of an operation send. */
export interface SampleRequest {
  readonly method: string;
  readonly path: string;
  /** Values of the path parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The same values with the types of the document. */
  readonly pathValues: Readonly<Record<string, unknown>>;
  /** The form or JSON body; undefined if the operation has none. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly mediaType: string | undefined;
}

export interface Samples {
  readonly request: SampleRequest;
  readonly curl: string;
  readonly typescript: string;
  readonly python: string;
  readonly php: string;
  readonly go: string;
}

/** @throws Error if the document lacks an example that a sample needs; its message names the operation. */
export function samplesOf(document: OpenApi, placed: PlacedOperation, reference: Reference): Samples {
  const request = requestOf(document, placed);
  const baseUrl = sandboxUrl(document);
  const typescript =
    reference.api === 'operator' ? operatorSample(placed.id, request, baseUrl) : resellerSample(placed.id, request, baseUrl);
  const sent = { ...request, url: `${baseUrl}${pathOf(request)}`, reference };
  return {
    request,
    curl: curlSample(request, baseUrl, reference),
    typescript,
    python: pythonSample(sent),
    php: phpSample(sent),
    go: goSample(sent),
  };
}

/** The address of the sandbox, which the pages replace when a sandbox with another address serves them. */
export function sandboxUrl({ servers }: OpenApi): string {
  const sandbox = servers.find(({ description }) => description === 'Sandbox') ?? servers[0];
  if (sandbox === undefined) throw new Error('The document has no server.');
  return sandbox.url;
}

/** The request of the first example of each part. */
export function requestOf(document: OpenApi, { id, method, path, operation }: PlacedOperation): SampleRequest {
  const parameters = (operation.parameters ?? [])
    .map((part) => parameterOf(document, part))
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, example }) => {
      if (example === undefined) throw new Error(`${id}: the path parameter ${name} has no example.`);
      return [name, example] as const;
    });
  const [mediaType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const [example] = Object.values(media?.examples ?? {});
  if (media !== undefined && example === undefined) throw new Error(`${id}: the request body has no example.`);
  const value: unknown = example === undefined ? undefined : exampleOf(document, example).value;
  const texts = parameters.map(([name, written]) => [name, String(written)] as const);
  return {
    method,
    path,
    parameters: Object.fromEntries(texts),
    pathValues: Object.fromEntries(parameters),
    mediaType,
    body: isFields(value) ? value : undefined,
  };
}

/** The path of a request with its parameters filled in. */
export function pathOf({ path, parameters }: Pick<SampleRequest, 'path' | 'parameters'>): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function curlSample(request: SampleRequest, baseUrl: string, reference: Reference): string {
  const { name: header, prefix } = credentialHeader(reference);
  const parts = [
    `curl -X ${request.method} ${quoted(`${baseUrl}${pathOf(request)}`)}`,
    `-H "${header}: ${prefix}$${reference.credential}"`,
  ];
  if (request.mediaType === 'application/json') {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request.body ?? {}))}`);
  } else {
    for (const [name, value] of Object.entries(request.body ?? {})) parts.push(`--data-urlencode ${quoted(`${name}=${String(value)}`)}`);
  }
  return parts.join(' \\\n  ');
}

/** Quotes a text for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function resellerSample(id: string, { parameters, body }: SampleRequest, baseUrl: string): string {
  const place = placeOf(id, PLACES) ?? placeOf(id, EXTENSION_PLACES);
  if (place === undefined) throw new Error(`${id} has no method in packages/client/src/places.ts.`);
  const call = `const data = await reseller.${place}(`;
  const input = [
    ...Object.entries(parameters).map(([name, value]) => (name === 'vmid' ? value : literal(value))),
    ...(body === undefined ? [] : [literal(body, '', call.length)]),
  ];
  return [
    "import { createReseller } from '@reseller/client/extension';",
    '',
    'const reseller = createReseller({',
    `  baseUrl: '${baseUrl}',`,
    "  apiKey: process.env['RESELLER_API_KEY'] ?? '',",
    '});',
    `${call}${input.join(', ')});`,
    'console.log(data);',
  ].join('\n');
}

/** Where the client offers an operation: `domain.handle.create`. */
export function placeOf(id: string, places: Places): string | undefined {
  for (const [name, found] of Object.entries(places)) {
    if (found === id) return name;
    const inner = typeof found === 'string' ? undefined : placeOf(id, found);
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}

function operatorSample(id: string, { pathValues, body }: SampleRequest, baseUrl: string): string {
  const path = Object.keys(pathValues).length === 0 ? '' : `, path: ${literal(pathValues)}`;
  const call = `const data = await ${id}({ client${path}`;
  const input = body === undefined ? '' : `, body: ${literal(body, '', `${call}, body: `.length)}`;
  const names = ['createClient', id].toSorted();
  return [
    `import { ${names.join(', ')} } from '@reseller/operator-client';`,
    '',
    'const client = createClient({',
    `  baseUrl: '${baseUrl}',`,
    "  token: process.env['RESELLER_OPERATOR_TOKEN'] ?? '',",
    '});',
    `${call}${input} });`,
    'console.log(data);',
  ].join('\n');
}

const MAX_LINE_LENGTH = 80;

/** A value as TypeScript: on one line if it fits there after the characters that begin the line. */
function literal(value: unknown, indent = '', begun = indent.length): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, item]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)}: ${literal(item, inner)}`);
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  if (items.length === 0) return `${open}${close}`;
  const short = `${open}${space}${items.join(', ')}${space}${close}`;
  if (begun + short.length <= MAX_LINE_LENGTH && !short.includes('\n')) return short;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}
