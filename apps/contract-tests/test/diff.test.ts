import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { command } from './run-command.ts';
import { copyOfSources } from './workspace.ts';

test('compares two versions of the sources, and lists breaking and safe changes with their operations', async () => {
  const [old, now] = [await copyOfSources(), await copyOfSources()];
  expect(await command(['diff', old, now], {})).toEqual({ code: 0, output: 'The documents describe the same API.' });

  const form = join(dirname(now), 'components/schemas/vm/CreateVmForm.yaml');
  const text = await readFile(form, 'utf8');
  await writeFile(form, text.replace('hostsystem]', 'hostsystem, hostname]').replace('Virtual cores. The', 'Cores. The'));
  const { code, output } = await command(['diff', old, now], {});
  expect(code).toBe(1);
  expect(output).toContain('Breaking (1)\n  hostname is required now\n    createVm  ');
  expect(output).toMatch(/components\/schemas\/vm\/CreateVmForm\.yaml:\d+:\d+\n {4}Calls that do not send it are refused\./);
  expect(output).toContain('Documentation only (1)\n  description of cores changed');
  expect(output).toMatch(/1 breaking, 0 safe, 1 documentation only$/);
});

test('prints JSON, Markdown and annotations, and a change of the security of all operations as one', async () => {
  const [old, now] = [await copyOfSources(), await copyOfSources()];
  const scheme = join(dirname(now), 'components/securitySchemes/ApiKey.yaml');
  await writeFile(scheme, (await readFile(scheme, 'utf8')).replace('name: X-SERVICE-APIKEY', 'name: X-OTHER-KEY'));
  const json = await command(['diff', old, now, '--format', 'json'], {});
  expect(json.code).toBe(1);
  const { changes } = JSON.parse(json.output);
  expect(changes.filter(({ impact }: { impact: string }) => impact === 'breaking')).toEqual([
    expect.objectContaining({ what: expect.stringContaining('no longer sufficient'), line: expect.any(Number), file: expect.any(String) }),
  ]);
  const markdown = await command(['diff', old, now, '--format', 'markdown'], {});
  expect(markdown.output).toMatch(/^## Breaking \(1\)\n\n\| change \| operations \| place \| consequence \|\n/);
  const github = await command(['diff', old, now, '--format', 'github'], {});
  expect(github.output).toMatch(/^::error file=[^:,]+,line=\d+,col=\d+::.*no longer sufficient/m);
  expect(await command(['diff', old, now, '--format', 'yaml'], {})).toMatchObject({
    code: 2,
    output: expect.stringContaining('--format must be one of'),
  });
});
