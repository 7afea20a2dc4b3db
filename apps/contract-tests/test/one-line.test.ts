/** Frameworks serve their document in one line. Reports stay small, and proposals keep it valid JSON. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const MEGABYTE = 1_000_000;

function documentOf(operations: number, padding: string): unknown {
  const paths = Array.from({ length: operations }, (_, n) => {
    const schema = { type: 'object', properties: { [`known${n}`]: { type: 'string' } } };
    const responses = { 200: { description: 'ok', content: { 'application/json': { schema } } } };
    return [`/things-${n}`, { get: { operationId: `get${n}`, description: padding, responses } }] as const;
  });
  return { openapi: '3.1.0', info: { title: 'One line', version: '1' }, paths: Object.fromEntries(paths) };
}

test('a document in one line has a report whose size does not grow with the document', async () => {
  const operations = byDepth({ usual: 60, deep: 420 });
  const server = await startServer(({ path }, response) => {
    const n = /things-(\d+)$/.exec(path)?.[1];
    sendJson(response, n === undefined ? 404 : 200, n === undefined ? {} : { [`known${n}`]: 'x', [`extra${n}`]: 1 });
  });
  const folder = await temporaryFolder();
  const file = join(folder, 'api.json');
  const report = join(folder, 'report');
  // 60 operations make a line of 1.5 MB.
  await writeFile(file, JSON.stringify(documentOf(operations, 'text '.repeat(byDepth({ usual: 5_000, deep: 500 })))));
  const argv = ['--target', server.url.href, '--document', file, '--report', report];
  const { code, output } = await command(argv, {});
  expect({ code, output: output.slice(0, 500) }).toEqual({ code: 0, output: expect.stringContaining(`${operations} discovered`) });
  const sizes = await Promise.all((await readdir(report)).map(async (name) => (await stat(join(report, name))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(byDepth({ usual: MEGABYTE, deep: 7 * MEGABYTE }));
  const { findings } = JSON.parse(await readFile(join(report, 'report.json'), 'utf8'));
  for (const { patch } of findings) expect(patch.length).toBeLessThan(1_000);
  // The proposals can be written, and the document stays JSON.
  await command([...argv.slice(0, 4), '--write'], {});
  const written = JSON.parse(await readFile(file, 'utf8'));
  expect(written.paths['/things-7'].get.responses['200'].content['application/json'].schema.properties.extra7).toMatchObject({
    type: 'integer',
  });
  expect((await command(argv.slice(0, 4), {})).output).toContain('0 violation, 0 discovered, 0 learned');
});
