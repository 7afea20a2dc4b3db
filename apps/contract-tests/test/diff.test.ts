import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { command } from './run-command.ts';
import { copyOfSources } from './workspace.ts';

const JUDGED = 'Judges requests and responses (the wire), and code that calls the generated client.';

test('compares two versions of the sources, and lists breaking and safe changes with their operations', async () => {
  const [old, now] = [await copyOfSources(), await copyOfSources()];
  expect(await command(['diff', old, now], {})).toEqual({ code: 0, output: `${JUDGED}\nThe documents describe the same API.` });

  const form = join(dirname(now), 'vm.yaml');
  const text = await readFile(form, 'utf8');
  await writeFile(form, text.replace('hostsystem]', 'hostsystem, hostname]').replace('Virtual cores. The', 'Cores. The'));
  const { code, output } = await command(['diff', old, now], {});
  expect(code).toBe(1);
  expect(output).toContain('Breaking on the wire (1)\n  hostname is required now\n    createVm  ');
  expect(output).toMatch(/vm\.yaml:\d+:\d+\n {4}Calls that do not send it are refused\./);
  expect(output).toContain('Documentation only (1)\n  description of cores changed');
  expect(output).toMatch(/1 breaking, 0 breaking only for code, 0 safe, 1 documentation only$/);
});

test('prints JSON, Markdown and annotations, and a change of the security of all operations as one', async () => {
  const [old, now] = [await copyOfSources(), await copyOfSources()];
  const scheme = join(dirname(now), 'common.yaml');
  await writeFile(scheme, (await readFile(scheme, 'utf8')).replace('name: X-SERVICE-APIKEY', 'name: X-OTHER-KEY'));
  const json = await command(['diff', old, now, '--format', 'json'], {});
  expect(json.code).toBe(1);
  const { changes } = JSON.parse(json.output);
  expect(changes.filter(({ impact }: { impact: string }) => impact === 'breaking')).toEqual([
    expect.objectContaining({ what: expect.stringContaining('no longer sufficient'), line: expect.any(Number), file: expect.any(String) }),
  ]);
  const markdown = await command(['diff', old, now, '--format', 'markdown'], {});
  expect(markdown.output).toMatch(/\n\n## Breaking on the wire \(1\)\n\n\| change \| operations \| place \| consequence \|\n/);
  const github = await command(['diff', old, now, '--format', 'github'], {});
  expect(github.output).toMatch(/^::error file=[^:,]+,line=\d+,col=\d+::.*no longer sufficient/m);
  expect(await command(['diff', old, now, '--format', 'yaml'], {})).toMatchObject({
    code: 2,
    output: expect.stringContaining('--format must be one of'),
  });
});

test('tells changes of the wire from those of the generated client, and --wire judges only the wire', async () => {
  const [old, now] = [await copyOfSources(), await copyOfSources()];
  const path = join(dirname(now), 'domain.yaml');
  await writeFile(path, (await readFile(path, 'utf8')).replace('operationId: listDomains', 'operationId: allDomains'));
  const both = await command(['diff', old, now], {});
  expect(both.code).toBe(1);
  expect(both.output).toContain('Breaking only for code of the generated client (1)\n  it is called allDomains instead of listDomains\n');
  const wire = await command(['diff', old, now, '--wire'], {});
  expect(wire.code).toBe(0);
  expect(wire.output).toContain('Changes that break only code of the generated client are safe.\nSafe (1)\n  it is called allDomains');
});
