import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

import { afterEach, expect, test, vi } from 'vitest';

import { addressOf, startMockProcess } from './mock-process.ts';
import type { MockProcess } from './mock-process.ts';

const started: MockProcess[] = [];

afterEach(() => {
  for (const mock of started.splice(0)) mock.kill('SIGKILL');
});

test('says in one line that its port is in use', async () => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  const address = occupant.address();
  const port = String(typeof address === 'object' ? address?.port : address);
  const ended = await endOf(start({ MOCK_PORT: port }));
  occupant.close();
  expect(ended).toEqual({
    code: 1,
    errors: `Port ${port} is in use. Set MOCK_PORT to another port, or stop the process that uses it.\n`,
  });
});

test('says in one line that its port is not a port', async () => {
  expect(await endOf(start({ MOCK_PORT: '70000' }))).toEqual({
    code: 1,
    errors: "MOCK_PORT is '70000'. It must be a whole number from 0 to 65535, where 0 picks a free port.\n",
  });
});

test('prints its address and stops on a signal', async () => {
  const mock = start({ MOCK_PORT: '0' });
  expect((await fetch(await addressOf(mock))).status).toBe(404);
  mock.kill('SIGTERM');
  expect(await endOf(mock)).toEqual({ code: 0, errors: '' });
});

test('ends Prism when it is killed', async () => {
  const mock = start({ MOCK_PORT: '0' });
  await addressOf(mock);
  const children = readFileSync(`/proc/${mock.pid}/task/${mock.pid}/children`, 'utf8').trim().split(' ');
  expect(children).toHaveLength(1);
  mock.kill('SIGKILL');
  await vi.waitFor(() => expect(children.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]), { timeout: 300_000 });
});

function start(settings: Readonly<Record<string, string>>): MockProcess {
  const mock = startMockProcess(settings);
  started.push(mock);
  return mock;
}

async function endOf(mock: MockProcess): Promise<{ code: unknown; errors: string }> {
  const [[code], errors] = await Promise.all([once(mock, 'exit'), text(mock.stderr)]);
  return { code, errors };
}
