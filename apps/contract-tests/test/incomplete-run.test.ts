import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

function documentOf(...names: readonly string[]): Readonly<Record<string, unknown>> {
  const schema = { type: 'object', properties: { id: { type: 'integer' }, text: { type: 'string' } } };
  const responses = { 200: { description: 'Fine.', content: { 'application/json': { schema } } } };
  const paths = names.map((name) => [`/${name}`, { get: { operationId: name, responses } }]);
  return { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: Object.fromEntries(paths) };
}

async function filesFor(hooks: string): Promise<{ readonly folder: string; readonly document: string; readonly hooks: string }> {
  const folder = await temporaryFolder();
  const [document, module] = [join(folder, 'api.json'), join(folder, 'hooks.mjs')];
  await writeFile(document, JSON.stringify(documentOf('one', 'two', 'three')));
  await writeFile(module, hooks);
  return { folder, document, hooks: module };
}

const TEXTS = "claim: 'It holds.', judges: 'Looks.', client: 'None.', applies: () => true";

describe('an error after the first request', () => {
  test.each([
    [
      'of one response',
      `checkResponse: ({ exchange }) => { if (exchange.operation.id === 'two') throw new Error('odd response'); return []; }`,
    ],
    ['of the whole run', `checkRun: () => { throw new Error('odd response'); }`],
  ])('in a check %s: the report has what was found, says what failed, and the exit code is 4', async (_, code) => {
    const { folder, document, hooks } = await filesFor(`export const checks = [{ id: 'own-check', ${TEXTS}, ${code} }];`);
    const { url } = await startServer((request, response) => sendJson(response, 200, { id: request.path === '/three' ? 'x' : 1 }));
    const reports = join(folder, 'reports');
    const result = await command(['--target', url.href, '--document', document, '--hooks', hooks, '--report', reports], {});
    expect(result.output).toMatch(/Not complete, because of errors\n {2}the check own-check.*: odd response/);
    expect(result.output).toContain('/id must be an integer');
    expect(result.code).toBe(4);
    const report = JSON.parse(await readFile(join(reports, 'report.json'), 'utf8'));
    expect(report.failures).toEqual([{ error: 'odd response', where: expect.stringContaining('own-check'), times: 1 }]);
    expect(report.coverage.map(({ requests }: { requests: number }) => requests)).toEqual([1, 1, 1]);
    expect(await readFile(join(reports, 'summary.md'), 'utf8')).toContain('## Not complete, because of errors\n\n- the check own-check');
    expect(await readFile(join(reports, 'junit.xml'), 'utf8')).toMatch(
      /errors="1"[^]*<error message="the check own-check[^"]*: odd response"/,
    );
  });

  test('while it sends concerns its operation only, and equal errors are counted', async () => {
    const { url } = await startServer((_, response) => sendJson(response, 200, { id: 1 }));
    const broken = {
      checks: [],
      steps: () => [],
      onExchange: async ({ operation }: { readonly operation: { readonly id: string } }) => {
        if (operation.id !== 'one') throw new Error('odd exchange');
      },
    };
    const document = parseDocument(documentOf('one', 'two', 'three'));
    const report = await runContract({ document, target: url, extensions: [broken] });
    expect(report.failures).toEqual([{ error: 'odd exchange', where: expect.stringContaining('two'), times: 2 }]);
    expect(report.coverage.map(({ operation, requests }) => [operation, requests])).toEqual([
      ['one', 1],
      ['two', 1],
      ['three', 1],
    ]);
  });

  test('a file of the report that cannot be written is named, the others are written, and the exit code is 4', async () => {
    const { folder, document } = await filesFor('');
    const { url } = await startServer((_, response) => sendJson(response, 200, { id: 1 }));
    const reports = join(folder, 'reports');
    await mkdir(join(reports, 'report.json'), { recursive: true });
    const { code, output } = await command(['--target', url.href, '--document', document, '--report', reports], {});
    expect(output).toMatch(/This file could not be written: report\.json: .*EISDIR/);
    expect(code).toBe(4);
    expect((await stat(join(reports, 'junit.xml'))).isFile()).toBe(true);
  });
});

describe('the body of a response', () => {
  // The body is {"text":"…"} with eleven characters around the text.
  test.each([
    [1, true],
    [99_989, true],
    [99_990, false],
    [500_000, false],
  ])('with a text of %i characters: recorded is %s', async (length, isRecorded) => {
    const { url } = await startServer((_, response) => sendJson(response, 200, { text: 'a'.repeat(length) }));
    const { traffic } = await runContract({ document: parseDocument(documentOf('one')), target: url });
    expect(traffic.map(({ responseBody }) => responseBody)).toEqual([
      isRecorded ? `{"text":"${'a'.repeat(length)}"}` : `(${length + 11} characters; not recorded)`,
    ]);
  });

  test('that was left out of a recording is not judged again', async () => {
    const { folder, document } = await filesFor('');
    const { url } = await startServer((request, response) =>
      sendJson(response, 200, { text: 'a'.repeat(request.path === '/one' ? 500_000 : 1) }),
    );
    await command(['--target', url.href, '--document', document, '--report', folder], {});
    const { code, output } = await command(['--har', join(folder, 'traffic.har'), '--document', document], {});
    expect(output).toContain('2 responses judged');
    expect(code).toBe(0);
  });
});
