import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { siteDirectory } from '../src/site.ts';

/** The parts of an operation that the page must show. */
export interface ShownOperation {
  readonly operationId: string;
  readonly path: string;
  readonly summary: string;
  /** Description of its form, without Markdown; empty if it has no form. */
  readonly form: string;
  /** Descriptions of the responses that the specification does not show, without Markdown. */
  readonly notShown: readonly string[];
}

const methods = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);

/** Every operation of the document of a page. */
export async function operationsOf(page: string): Promise<ShownOperation[]> {
  return entriesOf(member(await documentOf(page), 'paths')).flatMap(([path, item]) =>
    entriesOf(item)
      .filter(([method]) => methods.has(method))
      .map(([, operation]) => ({
        operationId: String(member(operation, 'operationId')),
        path,
        summary: String(member(operation, 'summary')),
        form: plain(String(member(member(operation, 'requestBody'), 'description') ?? '')),
        notShown: entriesOf(member(operation, 'responses'))
          .map(([, response]) => response)
          .filter((response) => member(response, 'x-provenance') === 'not-shown')
          .map((response) => plain(String(member(response, 'description')))),
      })),
  );
}

/** The server addresses of the document, in order. */
export async function serversOf(page: string): Promise<string[]> {
  const servers = entriesOf(member(await documentOf(page), 'servers')).map(([, server]) => String(member(server, 'url')));
  expect(servers.length).toBeGreaterThan(0);
  return servers;
}

/** Descriptions, anywhere in the document, of parts that the specification does not show. */
export async function remarksOf(page: string): Promise<string[]> {
  return [...marked(await documentOf(page))]
    .map((part) => plain(String(member(part, 'description'))))
    .filter((text) => /not shown/i.test(text));
}

function* marked(value: unknown): Generator<unknown> {
  if (member(value, 'x-provenance') === 'not-shown') yield value;
  for (const [, item] of entriesOf(value)) yield* marked(item);
}

/** A text in a form that can be compared with its rendering: without Markdown and with single spaces. */
export function plain(text: string): string {
  return text.replace(/[`*_]/g, '').replace(/^> /gm, '').replace(/\s+/g, ' ').trim();
}

async function documentOf(page: string): Promise<unknown> {
  return JSON.parse(await readFile(join(siteDirectory, `${page}.json`), 'utf8'));
}

function member(value: unknown, name: string): unknown {
  return Object.fromEntries(entriesOf(value))[name];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
