/** A hypervisor that does everything until the test lets it go away, when its port refuses connections. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '../../../.config/free-ports.ts';
import { temporaryDirectory } from './process.ts';

export interface AwayHypervisor {
  /** The path of the module, for `RESELLER_ADAPTERS`. */
  readonly adapters: string;
  /** While this file exists, it is away. */
  readonly switch: string;
  goAway(): void;
  comeBack(): void;
}

export async function awayHypervisor(): Promise<AwayHypervisor> {
  const directory = temporaryDirectory();
  const [adapters, away] = [join(directory, 'adapters.js'), join(directory, 'away')];
  writeFileSync(
    adapters,
    `import { existsSync } from 'node:fs';
async function call() {
  if (existsSync('${away}')) await fetch('http://127.0.0.1:${await freePort()}');
}
export function createAdapters() {
  const names = ['create', 'reinstall', 'start', 'restart', 'setLogin', 'stop', 'resize', 'remove'];
  return { hypervisor: Object.fromEntries(names.map((name) => [name, call])) };
}
`,
  );
  return { adapters, switch: away, goAway: () => writeFileSync(away, ''), comeBack: () => rmSync(away) };
}
