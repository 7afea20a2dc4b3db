/** Collections for Postman and Bruno: one request for each operation, with the first example of the document. */
import type { OpenApi, PlacedOperation } from './document.ts';
import { operationsOf } from './document.ts';
import { withoutRemarks } from './provenance.ts';
import { credentialHeader } from './references.ts';
import type { Reference } from './references.ts';
import { requestOf, sandboxUrl } from './samples.ts';
import type { SampleRequest } from './samples.ts';

const POSTMAN_SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Converts a path to the notation of both programs: `/vm/{vmid}/reinstall` becomes `/vm/:vmid/reinstall`. */
function colonPath(path: string): string {
  return path.replaceAll(/\{([^{}]+)\}/g, ':$1');
}

function variableOf({ api }: Reference): string {
  return api === 'reseller' ? 'apiKey' : 'operatorToken';
}

function headerWithVariable(reference: Reference): { key: string; value: string } {
  const { name, prefix } = credentialHeader(reference);
  return { key: name, value: `${prefix}{{${variableOf(reference)}}}` };
}

/** The collection as a JSON value in the format of Postman, version 2.1. */
export function postmanCollection(document: OpenApi, reference: Reference): object {
  return {
    info: { name: document.info.title, description: document.info.summary ?? '', schema: POSTMAN_SCHEMA },
    variable: [
      { key: 'baseUrl', value: sandboxUrl(document) },
      { key: variableOf(reference), value: '' },
    ],
    item: document.tags.map(({ name, description }) => ({
      name,
      description,
      item: operationsOf(document)
        .filter(({ operation }) => operation.tags[0] === name)
        .map((placed) => postmanItem(placed, requestOf(document, placed), reference)),
    })),
  };
}

function postmanItem({ operation }: PlacedOperation, request: SampleRequest, reference: Reference): object {
  const path = colonPath(request.path);
  return {
    name: operation.summary,
    request: {
      method: request.method,
      description: withoutRemarks(operation.description),
      header: [headerWithVariable(reference)],
      url: {
        raw: `{{baseUrl}}${path}`,
        host: ['{{baseUrl}}'],
        path: path.slice(1).split('/'),
        variable: Object.entries(request.parameters).map(([key, value]) => ({ key, value })),
      },
      ...(request.body === undefined ? {} : { body: postmanBody(request.body, request.mediaType) }),
    },
    response: [],
  };
}

function postmanBody(body: Readonly<Record<string, unknown>>, mediaType: string | undefined): object {
  if (mediaType === 'application/json') return { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } };
  return { mode: 'urlencoded', urlencoded: Object.entries(body).map(([key, value]) => ({ key, value: String(value) })) };
}

/** The files of a Bruno collection, by path. */
export function brunoCollection(document: OpenApi, reference: Reference): Record<string, string> {
  const variable = variableOf(reference);
  const files: Record<string, string> = {
    'bruno.json': `${JSON.stringify({ version: '1', name: document.info.title, type: 'collection' }, null, 2)}\n`,
    'environments/Sandbox.bru': `vars {\n  baseUrl: ${sandboxUrl(document)}\n}\nvars:secret [\n  ${variable}\n]\n`,
  };
  for (const [index, placed] of operationsOf(document).entries()) {
    const [tag = ''] = placed.operation.tags;
    files[`${tag}/${placed.operation.summary}.bru`] = brunoRequest(placed, requestOf(document, placed), { reference, seq: index + 1 });
  }
  return files;
}

function brunoRequest(
  { operation }: PlacedOperation,
  request: SampleRequest,
  { reference, seq }: { reference: Reference; seq: number },
): string {
  const isJson = request.mediaType === 'application/json';
  const body = request.body === undefined ? 'none' : isJson ? 'json' : 'formUrlEncoded';
  const header = headerWithVariable(reference);
  return [
    block('meta', { name: operation.summary, type: 'http', seq: String(seq) }),
    block(request.method.toLowerCase(), { url: `{{baseUrl}}${colonPath(request.path)}`, body, auth: 'none' }),
    Object.keys(request.parameters).length === 0 ? '' : block('params:path', request.parameters),
    block('headers', { [header.key]: header.value }),
    body === 'formUrlEncoded' ? block('body:form-urlencoded', textsOf(request.body ?? {})) : '',
    isJson && request.body !== undefined ? `body:json {\n${indented(JSON.stringify(request.body, null, 2))}\n}\n` : '',
    `docs {\n${indented(withoutRemarks(operation.description))}\n}\n`,
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function textsOf(body: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
}

function block(name: string, entries: Readonly<Record<string, string>>): string {
  return `${name} {\n${Object.entries(entries)
    .map(([key, value]) => `  ${key}: ${value}\n`)
    .join('')}}\n`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
