import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Person } from './cli.ts';
import type { Sandbox } from './sandbox.ts';

/** The options of a VM that costs 10.40 EUR. */
export const SMALL_VM = ['--cores', '2', '--mem', '4096', '--disk', '40', '--os', 'debian_12', '--hostsystem', 'nl_ryzen'];

export async function vmsOf({ reseller }: Sandbox): Promise<number[]> {
  return (await reseller.vm.list()).list.map(({ vmid }) => vmid);
}

/** The files of the purchases whose outcome the program does not know. */
export function pendingOf({ stateFolder }: Person): string[] {
  const folder = join(stateFolder, 'pending');
  return existsSync(folder) ? readdirSync(folder) : [];
}
