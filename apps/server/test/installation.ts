/** The installation that OPERATIONS.md makes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { inject } from 'vitest';

import { PNPM, PNPM_ARGUMENTS } from '../../../.config/install.mjs';
import type { Ran } from './process.ts';
import { commandsOf, runScript, withFreePorts } from './runbook.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');

export const RUNBOOK: string = readFileSync(join(REPOSITORY, 'packages/service/OPERATIONS.md'), 'utf8');

/** Runs the commands of the section "Install". @returns A new folder, and the installation in it. */
export function install(): { readonly folder: string; readonly installation: string } {
  // On the disk, where pnpm can link the files of its store instead of copying them.
  const folder = mkdtempSync(join(inject('diskFolder'), 'production-'));
  const installation = join(folder, 'reseller');
  for (const line of commandsOf(RUNBOOK, 'Install').trim().split('\n')) {
    const [npx, yes, program, ...given] = line.replaceAll('/opt/reseller', installation).split(' ');
    if (npx !== 'npx' || yes !== '-y' || program !== 'pnpm@12') throw new Error(`The runbook has an unknown command: ${line}`);
    const { status, error, stdout, stderr } = spawnSync(PNPM, [...PNPM_ARGUMENTS, ...given], { cwd: REPOSITORY, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${line}\n${stdout}${stderr}`, { cause: error });
  }
  return { folder, installation };
}

/** Runs commands of the runbook, with free ports and in folders of their own. */
export async function runInstalled(installation: string, commands: string, directory: string): Promise<Ran> {
  const ports = `export RESELLER_PORT=4010 RESELLER_OPERATOR_PORT=4011\n`;
  const script = (await withFreePorts(ports + commands, ['4010', '4011']))
    .replaceAll('/opt/reseller', installation)
    .replaceAll('/var/lib/reseller', join(directory, 'data'))
    .replaceAll('/etc/reseller', join(directory, 'etc'));
  return runScript(script, directory);
}
