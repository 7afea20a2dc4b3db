import { expect, test } from 'vitest';

import type { OpenApiDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import type { Report } from '../report/report.ts';
import { runContract } from '../run/run.ts';
import { pagingOf } from './paging.ts';

type Kind = 'offset' | 'cursor';

const ITEM = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

function documentOf(kind: Kind): OpenApiDocument {
  const schema =
    kind === 'offset'
      ? { type: 'array', maxItems: 3, items: ITEM }
      : {
          type: 'object',
          properties: {
            items: { type: 'array', items: ITEM },
            page: { type: 'object', properties: { next_cursor: { type: ['string', 'null'] } } },
          },
        };
  return {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/things': {
        get: {
          operationId: 'listThings',
          parameters: [{ name: kind, in: 'query', schema: { type: kind === 'offset' ? 'integer' : 'string' } }],
          responses: { 200: { description: 'ok', content: { 'application/json': { schema } } }, 400: { description: 'not an offset' } },
        },
      },
    },
  };
}

const ALL = Array.from({ length: 7 }, (_, id) => ({ id }));

/** Runs against a list of seven items, three on a page. With `isStuck`, every page is the first. */
async function read(kind: Kind, isStuck = false, count = 7): Promise<{ readonly queries: readonly string[]; readonly report: Report }> {
  const queries: string[] = [];
  const report = await runContract({
    document: documentOf(kind),
    target: new URL('http://target.example/v1'),
    send: async ({ url }) => {
      const { search, searchParams } = new URL(url);
      queries.push(search);
      if (kind === 'offset' && !/^[0-9]*$/.test(searchParams.get(kind) ?? '')) return new Response(null, { status: 400 });
      const begin = isStuck ? 0 : Number(searchParams.get(kind)?.replace('at-', '') ?? 0);
      const items = ALL.slice(0, count).slice(begin, begin + 3);
      const next = begin + 3 < count ? `at-${begin + 3}` : null;
      return Response.json(kind === 'offset' ? items : { items, page: { next_cursor: next } });
    },
  });
  return { queries, report };
}

test.each<Kind>(['offset', 'cursor'])('reads two pages of a list with the query parameter %s, and finds overlaps', async (kind) => {
  const good = await read(kind);
  expect(good.queries).toEqual(kind === 'offset' ? ['', '?offset=3', '?offset=many'] : ['', '?cursor=at-3']);
  expect(good.report.findings).toEqual([]);
  expect(good.report.coverage[0]?.checks).toContainEqual({ check: 'page-overlap', outcome: 'passed' });
  const stuck = await read(kind, true);
  expect(stuck.report.findings).toMatchObject([{ check: 'page-overlap', verdict: 'violation', observed: '3 repeated' }]);
});

test('does not request a second page if the first has no cursor', async () => {
  const { queries, report } = await read('cursor', false, 2);
  expect(queries).toEqual(['']);
  expect(report.coverage[0]?.checks).toContainEqual({ check: 'page-overlap', outcome: 'not-performed' });
});

test('detects offset and cursor parameters in the document', () => {
  const of = (document: OpenApiDocument): unknown => pagingOf(document, readOperations(document)[0] ?? expect.fail('no operation'));
  expect(of(documentOf('offset'))).toMatchObject({ by: 'offset', in: 'query', field: 'offset', size: 3, pointer: '' });
  expect(of(documentOf('cursor'))).toMatchObject({ by: 'cursor', in: 'query', field: 'cursor', size: undefined, pointer: '/items' });
});
