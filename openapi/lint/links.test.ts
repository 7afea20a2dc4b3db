/** The links of both bundles: the path or an example response has the value that a link reads, and the target of the link accepts it. */
import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { entriesOf, isFields, isReference } from './nodes.ts';
import type { Fields } from './nodes.ts';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

interface Link {
  readonly from: string;
  readonly name: string;
  /** Those of the operation that has the link. */
  readonly pathParameters: readonly string[];
  readonly to: Fields | undefined;
  readonly link: Fields;
  readonly examples: readonly unknown[];
}

function partAt(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((part, token) => (Array.isArray(part) ? part[Number(token)] : isFields(part) ? part[token] : undefined), document);
}

function linksOf(document: unknown): { links: readonly Link[]; resolve: (part: unknown) => Fields } {
  const resolve = (part: unknown): Fields => {
    if (isReference(part)) return resolve(partAt(document, part.$ref.slice(1)));
    return isFields(part) ? part : {};
  };
  const routes = entriesOf(partAt(document, '/paths')).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) => (METHODS.has(method) && isFields(operation) ? [{ path, operation }] : [])),
  );
  const operations = routes.map(({ operation }) => operation);
  const links = routes.flatMap(({ path, operation }) =>
    entriesOf(operation['responses']).flatMap(([, written]) => {
      const response = resolve(written);
      const examples = entriesOf(response['content']).flatMap(([, media]) =>
        entriesOf(resolve(media)['examples']).map(([, example]) => resolve(example)['value']),
      );
      return entriesOf(response['links']).map(([name, link]) => ({
        from: String(operation['operationId']),
        name,
        pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter),
        to: operations.find((target) => target['operationId'] === resolve(link)['operationId']),
        link: resolve(link),
        examples,
      }));
    }),
  );
  return { links, resolve };
}

describe.each(['openapi', 'operator'])('the links of %s', (bundle) => {
  const { links, resolve } = linksOf(JSON.parse(readFileSync(new URL(`../generated/${bundle}.json`, import.meta.url), 'utf8')));

  it('exist', () => expect(links.length).toBeGreaterThan(15));

  it.each(links.map((link) => [link.from, link.name, link] as const))('%s, %s', (_from, _name, { pathParameters, to, link, examples }) => {
    expect(to).toBeDefined();
    const parameters = Array.isArray(to?.['parameters']) ? to['parameters'].map((parameter) => resolve(parameter)['name']) : [];
    for (const [name] of entriesOf(link['parameters'])) expect(parameters).toContain(name);
    const [media] = entriesOf(resolve(to?.['requestBody'])['content']);
    const fields = Object.keys(resolve(resolve(resolve(media?.[1])['schema'])['properties']));
    for (const [name] of entriesOf(link['requestBody'])) expect(fields).toContain(name);
    for (const [, expression] of [...entriesOf(link['parameters']), ...entriesOf(link['requestBody'])]) {
      const [, inPath] = /^\$request\.path\.(\w+)$/.exec(String(expression)) ?? [];
      if (inPath !== undefined) {
        expect(pathParameters).toContain(inPath);
        continue;
      }
      const [, pointer] = /^\$response\.body#(\/.+)$/.exec(String(expression)) ?? [];
      expect(pointer, `${String(expression)} is not supported`).toBeDefined();
      const values = examples.map((example) => partAt(example, pointer ?? '')).filter((value) => value !== undefined);
      expect(values.length, `no example of the response has ${pointer}`).toBeGreaterThan(0);
    }
  });
});
