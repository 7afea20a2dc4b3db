import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { operatorApi, resellerApi } from '../src/api.ts';
import { toolsOf } from '../src/mcp/tools.ts';
import { OPERATOR_COMMANDS, RESELLER_COMMANDS } from '../src/names.ts';

const apis = [
  { api: resellerApi(), names: RESELLER_COMMANDS },
  { api: operatorApi(), names: OPERATOR_COMMANDS },
];

test.each(apis)('each operation of the $api.name API has a command, and each command an operation', ({ api, names }) => {
  const operations = api.commands.map(({ operation }) => operation.id);
  expect(Object.keys(names).toSorted()).toEqual(operations.toSorted());
});

test.each(apis)('each command of the $api.name API consists of words and is unique, and no group is a command', ({ names }) => {
  const commands = Object.values(names);
  expect(commands.filter((command) => !/^[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*){1,2}$/.test(command))).toEqual([]);
  expect(new Set(commands).size).toBe(commands.length);
  expect(commands.filter((command) => commands.some((other) => other.startsWith(`${command} `)))).toEqual([]);
});

test('the README says how many tools there are', () => {
  const [reseller, operator] = apis.map(({ api }) => toolsOf(api, { allowWrites: true, keepsSecrets: true }).length);
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  expect(readme).toContain(`The reseller API has ${reseller} tools, and the operator API ${operator}.`);
});

test('no input of an operation has the name of an option that commands have in common', () => {
  const common = new Set([
    'profile',
    'output',
    'columns',
    'sort',
    'no-header',
    'watch',
    'yes',
    'dry-run',
    'idempotency-key',
    'body',
    'help',
  ]);
  const tools = apis.flatMap(({ api }) => toolsOf(api, { allowWrites: true, keepsSecrets: true }));
  const taken = tools.flatMap(({ tool, operation }) =>
    Object.keys(tool.inputSchema.properties ?? {})
      .filter((name) => common.has(name))
      .map((name) => `${operation.id}: ${name}`),
  );
  expect(taken).toEqual([]);
});
