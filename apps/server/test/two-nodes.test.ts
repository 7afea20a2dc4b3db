/** Runs the commands of README.md, section "Two instances on one database". */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { newDatabase, query } from './database.ts';
import { SAMPLE_VM, temporaryDirectory } from './process.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const README = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');

/** The shell blocks of a section, in order. */
function commandsOf(section: string): string {
  const part = README.split(/^## /m).find((one) => one.startsWith(`${section}\n`)) ?? '';
  return [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n');
}

async function freePorts(count: number): Promise<string[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = await Promise.all(
    probes.map(async (probe) => {
      await once(probe, 'listening');
      const address = probe.address();
      return typeof address === 'object' && address ? String(address.port) : '';
    }),
  );
  await Promise.all(probes.map((probe) => new Promise((done) => probe.close(done))));
  return ports;
}

/** A folder whose `npx` is the pnpm that runs the tests, so that no registry is needed. */
function folderOfNpx(): string {
  const folder = temporaryDirectory();
  const pnpm = process.env['npm_execpath'] ?? 'pnpm';
  const file = join(folder, 'npx');
  writeFileSync(file, `#!/bin/sh\nshift\nexec ${/\.[cm]?js$/.test(pnpm) ? `'${process.execPath}' ` : ''}'${pnpm}' "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}

test('the commands of the section work as described', async () => {
  const url = await newDatabase();
  const ports = await freePorts(4);
  let script = commandsOf('Two instances on one database');
  for (const [index, port] of ['4010', '4011', '4110', '4111'].entries()) {
    expect(script).toContain(port);
    script = script.replaceAll(port, ports[index] ?? '');
  }
  const example = /^export DATABASE_URL=(\S+)$/m.exec(script)?.[1] ?? '';
  expect(example).toMatch(/^postgres:/);
  const shell = spawn('/bin/sh', ['-eu'], {
    cwd: REPOSITORY,
    // A separate process group, so that all of its processes can be ended.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${folderOfNpx()}:${process.env['PATH'] ?? ''}`, TMPDIR: temporaryDirectory() },
  });
  onTestFinished(() => {
    try {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  });
  shell.stdin.end(`${script.replace(example, url)}\nwait $two || true\n`);
  const [printed, problems, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')]);
  expect({ code, problems: code === 0 ? '' : problems }).toEqual({ code: 0, problems: '' });

  const answers = [...printed.matchAll(/\{"(?:status|now)".*?\}(?=\{"(?:status|now)"|\s*$)/gs)].map(([answer]) => JSON.parse(answer));
  const [first, invoice, advanced, clock, second] = answers;
  expect(answers).toHaveLength(5);
  expect(Object.keys(invoice.data.positions.vms).map(Number).toSorted()).toEqual([first.data.identifier, SAMPLE_VM].toSorted());
  expect([advanced.advance_seconds, clock.advance_seconds]).toEqual([3_600, 3_600]);
  expect(await query(url, 'select id::int from vms order by created')).toEqual([
    { id: SAMPLE_VM },
    { id: first.data.identifier },
    { id: second.data.identifier },
  ]);
  // Both instances have given up their leases.
  expect(await query(url, 'select id from instances')).toEqual([]);
});
