/** Commands and code that send a request again. */
import type { OperationId } from '@reseller/operator-client';

import { operations } from '../document/operations.data.ts';
import { resellerOperations } from '../document/reseller-operations.data.ts';
import type { Sent } from './client.ts';

/** A request of the request log. */
export interface LoggedRequest {
  readonly method: string;
  readonly endpoint: string;
  readonly request_body: string;
}

/** The parameters of a logged request. Nested values are sent as JSON. */
export function parametersOf({ request_body }: Pick<LoggedRequest, 'request_body'>): [string, string][] {
  const parsed: unknown = parse(request_body);
  if (typeof parsed !== 'object' || parsed === null) return [];
  return Object.entries(parsed).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return value.map((item): [string, string] => [name, textOf(item)]);
    return value === null ? [] : [[name, textOf(value)]];
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A curl command for a request to the reseller API. The key is in an environment variable, as in the documentation. */
export function curlOf(request: LoggedRequest, baseUrl: string): string {
  const parts = [`curl -X ${request.method} ${quoted(baseUrl + request.endpoint)}`, '-H "X-SERVICE-APIKEY: $RESELLER_API_KEY"'];
  const parameters = parametersOf(request);
  if (request.method === 'GET' && parameters.length > 0) parts.push('-G');
  return [...parts, ...parameters.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`)].join(' \\\n  ');
}

/** A curl command for an operation of the operator API. */
export function operatorCurl(id: OperationId, { path = {}, body }: Sent): string {
  const { method, path: template } = operations[id];
  const url =
    globalThis.location.origin + template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name] ?? '')));
  const parts = [`curl -X ${method} ${quoted(url)}`, '-H "Authorization: Bearer $RESELLER_OPERATOR_TOKEN"'];
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}

/** Quotes a text for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** TypeScript that sends the request with the client. */
export function typescriptOf(request: LoggedRequest, baseUrl: string): string {
  const found = matching(request);
  if (found === undefined) return `// The document has no operation ${request.method} ${request.endpoint}.`;
  const { place, isExtension, values } = found;
  const form = Object.fromEntries(parametersOf(request).map(([name, value]) => [name, literalOf(value)]));
  const input = [
    ...values.map((value) => (/^\d+$/.test(value) ? value : JSON.stringify(value))),
    ...(Object.keys(form).length > 0 ? [objectOf(form)] : []),
  ];
  return [
    `import { createReseller } from '@reseller/client${isExtension ? '/extension' : ''}';`,
    '',
    `const reseller = createReseller({ baseUrl: '${baseUrl}', apiKey: process.env['RESELLER_API_KEY'] ?? '' });`,
    `const data = await reseller.${place}(${input.join(', ')});`,
    'console.log(data);',
  ].join('\n');
}

/** The operation of the reseller document that a request was sent to. */
export function matching({ method, endpoint }: Pick<LoggedRequest, 'method' | 'endpoint'>) {
  for (const operation of resellerOperations) {
    if (operation.method !== method) continue;
    const pattern = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
    const match = pattern.exec(endpoint);
    if (match) return { ...operation, values: match.slice(1).map(decoded) };
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function literalOf(value: string): string | number {
  return /^-?(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
}

function objectOf(form: Readonly<Record<string, string | number>>): string {
  const members = Object.entries(form).map(
    ([name, value]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  return `{ ${members.join(', ')} }`;
}
