/** The limits of a run: the removals it makes and owes, and the findings that `--only` and a baseline leave out. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runContract } from '@reseller/contract/engine';
import type { ContractOptions, Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { fileJournal } from '../src/file-journal.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { startStock, STOCK, STOCK_TOKEN } from './stock.ts';
import type { Stock, StockBehaviour } from './stock.ts';
import { temporaryFolder } from './workspace.ts';

async function journalFile(): Promise<string> {
  return join(await temporaryFolder(), 'journal.jsonl');
}

function run(stock: Stock, file: string, more: Partial<ContractOptions> = {}): Promise<Report> {
  return runContract({ document: STOCK, target: stock.url, apiKey: STOCK_TOKEN, mode: 'full', journal: fileJournal(file), ...more });
}

/** A run that stands still after its first creation, as if its process had been killed, so that the item stays. */
async function crashedRun(stock: Stock, file: string): Promise<void> {
  const created = Promise.withResolvers<void>();
  let isCreated = false;
  void run(stock, file, {
    async send(request) {
      if (isCreated) {
        created.resolve();
        return new Promise<Response>(() => {});
      }
      const response = await fetch(request);
      isCreated = request.method === 'POST' && new URL(request.url).pathname === '/items' && response.status === 201;
      return response;
    },
  });
  await created.promise;
  expect(stock.items.size).toBe(1);
}

function removals(stock: Stock, id: string): number {
  return stock.received.filter(({ method, path }) => method === 'DELETE' && path === `/items/${id}`).length;
}

describe('a resource that an earlier run left behind', () => {
  test('is removed by the next run while it still is what the run made', async () => {
    const [stock, file] = [await startStock(), await journalFile()];
    await crashedRun(stock, file);
    const report = await run(stock, file, { only: new Map([['getMe', undefined]]) });
    expect(stock.items.size).toBe(0);
    expect(report.left).toEqual([]);
    expect(await fileJournal(file).open()).toEqual([]);
  });

  test('is not removed when the identifiers of the service began again, and the run says how to remove it', async () => {
    const [stock, file] = [await startStock(), await journalFile()];
    await crashedRun(stock, file);
    const [made] = stock.items.values();
    stock.restart();
    // A customer creates an item with the same name and gets the same identifier.
    const ofCustomer = stock.add(made?.name);
    expect(ofCustomer.id).toBe(made?.id);
    const report = await run(stock, file);
    expect(stock.items.get(ofCustomer.id)).toEqual(ofCustomer);
    expect(report.left).toEqual([expect.stringMatching(/^addItem \(id 1\) of an earlier run: .* differs .*curl .*\/items\/1/)]);
    expect(report.unfinished).toEqual([]);
  });

  test.each<[string, NonNullable<StockBehaviour['shown']>, RegExp]>([
    ['the read', (item, when) => (when === 'made' ? item : { id: item.id }), /differs/],
    ['the resource', ({ id }) => ({ id }), /too common/],
  ])('is not removed when %s shows nothing that only this resource has', async (_, shown, why) => {
    const [stock, file] = [await startStock({ shown }), await journalFile()];
    await crashedRun(stock, file);
    stock.restart();
    const ofCustomer = stock.add('of a customer');
    const report = await run(stock, file, { only: new Map([['getMe', undefined]]) });
    expect(stock.items.get(ofCustomer.id)).toEqual(ofCustomer);
    expect(report.left).toEqual([expect.stringMatching(why)]);
  });

  test('is forgotten when it is gone', async () => {
    const [stock, file] = [await startStock(), await journalFile()];
    await crashedRun(stock, file);
    stock.restart();
    const report = await run(stock, file, { only: new Map([['getMe', undefined]]) });
    expect(report.left).toEqual([]);
    expect(removals(stock, '1')).toBe(0);
    expect(await fileJournal(file).open()).toEqual([]);
  });

  test('is not removed with the key of another account', async () => {
    const [stock, file] = [await startStock(), await journalFile()];
    await crashedRun(stock, file);
    await run(stock, file, { apiKey: 'stock-token-of-another-account', only: new Map([['getMe', undefined]]) });
    expect(removals(stock, '1')).toBe(0);
    expect(stock.items.size).toBe(1);
  });

  test('is not removed after a day, and the run says how to remove it', async () => {
    const [stock, file] = [await startStock(), await journalFile()];
    await crashedRun(stock, file);
    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/"at":"[^"]+"/g, `"at":"${yesterday}"`));
    const report = await run(stock, file, { only: new Map([['getMe', undefined]]) });
    expect(removals(stock, '1')).toBe(0);
    expect(report.left).toEqual([expect.stringMatching(/^addItem \(id 1\) of an earlier run: .*day.*curl .*\/items\/1/)]);
  });
});

describe('everything that a run creates is removed in the same run', () => {
  test('also what accepted invalid bodies created', async () => {
    const [stock, file] = [await startStock({ accepts: () => true }), await journalFile()];
    const report = await run(stock, file);
    expect(report.findings.map(({ check }) => check)).toContain('form-refused');
    expect([...stock.items.values()]).toEqual([]);
    expect(report.left).toEqual([]);
    expect(report.unfinished).toEqual([]);
  });
});

describe('--only', () => {
  test('calls only the named operation, and ignores the mistakes of others', async () => {
    const stock = await startStock({ status: (_, path) => (path.startsWith('/items') ? 500 : undefined) });
    const report = await run(stock, await journalFile(), { only: new Map([['getMe', undefined]]) });
    expect(new Set(stock.received.map(({ path }) => path))).toEqual(new Set(['/me']));
    expect(report.findings.filter(({ verdict }) => verdict === 'violation')).toEqual([]);
  });

  test('reads only what has the identifiers of the named operation, and judges only that operation', async () => {
    const stock = await startStock();
    stock.add('One');
    const report = await run(stock, await journalFile(), { mode: 'read-only', only: new Map([['getItem', undefined]]) });
    const calls = stock.received.map(({ method, path }) => `${method} ${path}`);
    expect(calls).toContain('GET /items/1');
    expect(calls.filter((call) => call === 'GET /items')).toHaveLength(1);
    expect(calls).not.toContain('GET /me');
    expect(report.coverage.filter(({ verdict }) => verdict !== 'unverified').map(({ operation }) => operation)).toEqual(['getItem']);
  });
});

describe('a baseline', () => {
  test('accepts a finding only for the operations that it names', async () => {
    const stock = await startStock({ status: (_, path) => (path.startsWith('/items') || path === '/me' ? 500 : undefined) });
    const folder = await temporaryFolder();
    const document = join(folder, 'stock.json');
    await writeFile(document, JSON.stringify(STOCK));
    const argv = ['--target', stock.url.href, '--document', document, '--seed', '1'];
    const environment = { RESELLER_API_KEY: STOCK_TOKEN };
    const { output } = await command(argv, environment);
    const baseline = join(folder, 'baseline.yaml');
    const accepted = [...output.matchAll(/check {5}(\S+) \(finding (f-[0-9a-f]{12})\)/g)].map(([, check, finding]) => ({
      finding,
      check,
      operations: ['getMe'],
      reason: 'Known.',
      owner: 'me',
      expires: '2099-12-31',
    }));
    expect(accepted.length).toBeGreaterThan(0);
    await writeFile(baseline, JSON.stringify({ accepted }));
    const partly = await command([...argv, '--baseline', baseline], environment);
    expect(partly.code).toBe(1);
    expect(partly.output).toMatch(/violation {2}the service fails with 500\n {2}seen on {3}(?!.*getMe)listItems/);
    const all = accepted.map((one) => ({ ...one, operations: ['getMe', 'listItems', 'getItem', 'addItem', 'removeItem', 'putBin'] }));
    await writeFile(baseline, JSON.stringify({ accepted: all }));
    const fully = await command([...argv, '--baseline', baseline], environment);
    expect(fully.code).toBe(0);
    expect(fully.output).toMatch(/^ {2}getMe .* accepted$/m);
    expect(fully.output).not.toMatch(/ violation$/m);
  });
});

describe('an option that cannot take effect is an error', () => {
  test.each([
    [['--mode', 'full', '--also', 'putBin=7'], /putBin=7.*2 path parameters/],
    [['--only', 'getMe=7'], /getMe=7.*no path parameter/],
    [['--budget', '5'], /--budget.*--mode full/],
    [['--also', 'addItem'], /addItem.*--mode full/],
    [['diff', 'a.json', 'b.json', '--fail-on', 'learned'], /--fail-on has no effect on diff/],
  ])('%j', async (argv, message) => {
    const document = join(await temporaryFolder(), 'stock.json');
    await writeFile(document, JSON.stringify(STOCK));
    const isDocumentUsed = argv[0] !== 'diff';
    const { code, output } = await command(
      [...argv, ...(isDocumentUsed ? ['--document', document, '--target', 'http://127.0.0.1:9'] : [])],
      {
        RESELLER_API_KEY: STOCK_TOKEN,
      },
    );
    expect(code).toBe(2);
    expect(output).toMatch(message);
  });
});

describe('a creation that fails after the service has stored the thing', () => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } };
  const body = {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: { name: { type: 'string', maxLength: 40 }, size: { enum: [1, 2] } },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: {
      '/things': {
        get: {
          operationId: 'listThings',
          responses: {
            200: {
              description: 'Listed.',
              content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } } },
            },
          },
        },
        post: {
          operationId: 'createThing',
          requestBody: { required: true, content: { 'application/json': { schema: body } } },
          responses: { 201: { description: 'Made.', content }, 422: { description: 'Refused.' } },
        },
      },
      '/things/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        delete: { operationId: 'deleteThing', responses: { 204: { description: 'Gone.' }, 404: { description: 'Unknown.' } } },
      },
    },
    components: {
      schemas: { Thing: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, name: { type: 'string' } } } },
    },
  };

  /** @param change what the service makes of a name */
  async function judge(
    answer: 500 | 'cut',
    change = (name: string) => name,
  ): Promise<{ readonly code: number; readonly output: string; readonly left: readonly string[] }> {
    const things = new Map([['t0', 'foreign']]);
    const { url } = await startServer(({ method, path, body: text }, response) => {
      const id = path.split('/')[2];
      if (method === 'GET' && id === undefined)
        return sendJson(
          response,
          200,
          [...things].map(([one, name]) => ({ id: one, name })),
        );
      if (method === 'DELETE' && id !== undefined) return sendJson(response, things.delete(id) ? 204 : 404, '');
      if (method !== 'POST') return sendJson(response, 405, {});
      const { name, size = 1, ...others } = Object(text === '' ? {} : JSON.parse(text));
      const isValid = typeof name === 'string' && name.length <= 40 && (size === 1 || size === 2) && Object.keys(others).length === 0;
      if (!isValid) return sendJson(response, 422, {});
      things.set(`t${things.size}`, change(name));
      if (answer === 'cut') return void response.destroy();
      sendJson(response, answer, {});
    });
    const file = join(await temporaryFolder(), 'api.json');
    await writeFile(file, JSON.stringify(document));
    const result = await command(['--target', url.href, '--document', file, '--mode', 'full', '--yes'], {});
    return { ...result, left: [...things.keys()] };
  }

  test.each<500 | 'cut'>([500, 'cut'])('%s: is found in the list by the values of the run, and removed', async (answer) => {
    const { code, output, left } = await judge(answer);
    expect({ left, remains: output.includes('Left behind') }).toEqual({ left: ['t0'], remains: false });
    expect(code).toBe(1);
    expect(output).toContain(answer === 500 ? 'the service fails with 500' : 'the connection closed in place of a response');
  });

  test('is told, and not removed, when it bears no name of the run', async () => {
    const { code, left } = await judge('cut', () => 'renamed');
    expect(left.length).toBeGreaterThan(1);
    expect(code).toBe(3);
  });
});
