/** An adapter that does everything until the test lets its system go away, when it refuses connections. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '../../../.config/free-ports.ts';
import { temporaryDirectory } from './process.ts';

export interface AwaySystem {
  /** The path of the module, for `RESELLER_ADAPTERS`. */
  readonly adapters: string;
  /** While this file exists, it is away. */
  readonly switch: string;
  goAway(): void;
  comeBack(): void;
}

/** The members of each adapter, by what its calls return. */
const ADAPTERS = {
  hypervisor: `{ ...calls(['create', 'reinstall', 'start', 'restart', 'setLogin', 'stop', 'resize', 'remove']) }`,
  registrar: `{
    standardNameservers: ['ns1.example.net', 'ns2.example.net'],
    ...calls(['isAvailable'], true),
    ...calls(['register'], 'registered'),
    ...calls(['transfer'], 'transferred'),
    ...calls(['withdraw', 'setNameservers', 'setTransferLock', 'setContact', 'setAuthcode', 'renew', 'setRenewal']),
  }`,
  dns: `{ ...calls(['publish', 'remove']) }`,
};

export async function awaySystem(system: keyof typeof ADAPTERS): Promise<AwaySystem> {
  const directory = temporaryDirectory();
  const [adapters, away] = [join(directory, 'adapters.js'), join(directory, 'away')];
  writeFileSync(
    adapters,
    `import { existsSync } from 'node:fs';
function calls(names, result) {
  async function call() {
    if (existsSync('${away}')) await fetch('http://127.0.0.1:${await freePort()}');
    return result;
  }
  return Object.fromEntries(names.map((name) => [name, call]));
}
export function createAdapters() {
  return { ${system}: ${ADAPTERS[system]} };
}
`,
  );
  return { adapters, switch: away, goAway: () => writeFileSync(away, ''), comeBack: () => rmSync(away) };
}
