/** The guest agent is a program of the customer, who may replace it by any other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { agent, agentShutdown, AGENT_SOCKET } from './qmp.ts';

/** The time is long, so that no limit is met by waiting. */
const timeoutMs = 60_000;

/** The folder of a VM whose guest answers each connection in its own way. */
async function guestThat(answers: (socket: Socket) => void): Promise<{ readonly folder: string; readonly closed: Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'guest-'));
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', () => closed.resolve());
    answers(socket);
  });
  await new Promise<void>((resolve) => server.listen(join(folder, AGENT_SOCKET), resolve));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, closed: closed.promise };
}

/** Writes a text again and again, until the other side closes the connection. */
function flood(socket: Socket, text: string): void {
  const bytes = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  function write(): void {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', write);
  write();
}

test.each([
  ['bytes without a line end', 'a', 'a message of more than 65536 bytes'],
  ['lines that are not JSON', 'x\n', 'more than 1000 messages'],
  ['lines that begin JSON', '{\n', 'more than 1000 messages'],
  ['empty lines', '\n', 'more than 1000 messages'],
  ['answers to another question', '{"return": 7}\n', 'more than 1000 messages'],
  ['long answers to another question', `{"return": "${'a'.repeat(60_000)}"}\n`, 'more than 4194304 bytes'],
  ['a message without an end', `{"return": [${'1,'.repeat(1_000)}`, 'a message of more than 65536 bytes'],
])('a guest that floods with %s loses its connection', async (_what, text, excess) => {
  const { folder, closed } = await guestThat((socket) => flood(socket, text));
  await expect(agent(folder, 'guest-set-user-password', { timeoutMs })).rejects.toMatchObject({
    name: 'GuestError',
    message: expect.stringContaining(excess),
  });
  await closed;
  await expect(agentShutdown(folder, timeoutMs)).rejects.toThrow(excess);
});

test('a guest that sends half a message and closes has given no answer', async () => {
  const { folder } = await guestThat((socket) => socket.end('{"return": '));
  await expect(agent(folder, 'guest-ping', { timeoutMs })).rejects.toMatchObject({
    name: 'GuestError',
    message: expect.stringContaining('closed'),
  });
});

test('a guest that sends half a message and waits has given no answer in time', async () => {
  const { folder } = await guestThat((socket) => socket.write('{"return": '));
  await expect(agent(folder, 'guest-ping', { timeoutMs: 1 })).rejects.toMatchObject({ name: 'GuestError' });
});

test('an answer in pieces of any size, after answers to earlier questions, is the answer', async () => {
  for (const size of [1, 2, 7, 1_000]) {
    const { folder } = await guestThat((socket) => {
      socket.setEncoding('utf8');
      socket.on('data', (line: string) => {
        const { execute, arguments: given } = JSON.parse(line);
        const answer =
          execute === 'guest-sync' ? `{"return": 7}\n\u00ff{"return": ${given.id}}\n` : '{"return": {"name": "eth0 \u00fc"}}\n';
        const bytes = Buffer.from(answer);
        for (let from = 0; from < bytes.length; from += size) socket.write(bytes.subarray(from, from + size));
      });
    });
    expect(await agent(folder, 'guest-network-get-interfaces', { timeoutMs })).toEqual({ name: 'eth0 ü' });
  }
});

test('a refusal of a guest is its fault, and its description is cut', async () => {
  const { folder } = await guestThat((socket) => {
    socket.setEncoding('utf8');
    socket.on('data', (line: string) => {
      const { execute, arguments: given } = JSON.parse(line);
      socket.write(execute === 'guest-sync' ? `{"return": ${given.id}}\n` : `{"error": {"desc": "${'no '.repeat(10_000)}"}}\n`);
    });
  });
  const failure: unknown = await agent(folder, 'guest-set-user-password', { timeoutMs }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'GuestError', message: expect.stringMatching(/^guest-set-user-password was refused: no no/) });
  expect(String(failure).length).toBeLessThan(300);
});

test('a VM without an agent has a guest at fault', async () => {
  await expect(agent(tmpdir(), 'guest-ping', { timeoutMs })).rejects.toMatchObject({ name: 'GuestError' });
});
