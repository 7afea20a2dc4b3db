/** The built-in hypervisor of this process: QEMU on the same machine. */
import { join } from 'node:path';

import type { AdapterContext, Hypervisor } from '@reseller/adapters';
import { buildTestImage, missingForImage, missingPackages, qemuHypervisor, TEST_IMAGE } from '@reseller/adapters/qemu';
import type { QemuHypervisor } from '@reseller/adapters/qemu';

import { AdapterError } from './adapter-error.ts';
import type { Configuration } from './configuration.ts';

/** VMs whose page the banner names. */
const MOST_SHOWN = 3;

interface BuiltInQemu {
  readonly hypervisor: Hypervisor;
  /** One line for the banner. */
  readonly description: string;
}

/**
 * Creates the hypervisor. A sandbox without images sells a small Linux of our own, whatever operating system is ordered.
 *
 * @throws AdapterError if a program is missing.
 */
export async function builtInQemu(context: AdapterContext, { mode, qemuImages }: Configuration): Promise<BuiltInQemu> {
  const missing = [...missingPackages(), ...(qemuImages === undefined ? missingForImage() : [])];
  if (process.platform !== 'linux' || missing.length > 0) throw new AdapterError(howToInstall(missing));
  const images = qemuImages ?? join(context.directory, 'images');
  if (qemuImages === undefined) await buildTestImage(images);
  const options = { ...context, directory: join(context.directory, 'qemu'), images };
  const qemu = qemuHypervisor(qemuImages === undefined ? { ...options, defaultImage: TEST_IMAGE } : options);
  const hypervisor = mode === 'sandbox' ? withoutNodes(announcing(qemu)) : announcing(qemu);
  return { hypervisor, description: await descriptionOf(qemu) };
}

/** The catalogue of a sandbox has invented nodes, which all are this machine. So a comparison of nodes would only name the invention. */
function withoutNodes(hypervisor: Hypervisor): Hypervisor {
  const inventory = hypervisor.inventory?.bind(hypervisor);
  return inventory ? { ...hypervisor, inventory: async () => ({ ...(await inventory()), nodes: null }) } : hypervisor;
}

/** The fact of the banner. */
async function descriptionOf(qemu: QemuHypervisor): Promise<string> {
  const running = (await qemu.list()).filter((vm) => vm.running);
  const pages = running.slice(0, MOST_SHOWN).map(({ vmId, ports }) => `${vmId} http://127.0.0.1:${ports['80'] ?? ''}/`);
  return `machines of QEMU on this computer${running.length === 0 ? '' : `, ${running.length} running: ${pages.join(', ')}`}`;
}

function howToInstall(missing: readonly string[]): string {
  return process.platform === 'linux'
    ? `QEMU cannot run VMs here, because packages are missing. Install them, and start again: sudo apt-get install ${missing.join(' ')}`
    : 'QEMU as the hypervisor needs Linux. Start without --real and without RESELLER_HYPERVISOR=qemu to simulate the VMs.';
}

/** Prints where a new VM can be reached. */
function announcing(qemu: QemuHypervisor): Hypervisor {
  return {
    ...qemu,
    async create(order, token) {
      await qemu.create(order, token);
      const vm = (await qemu.list()).find(({ vmId }) => vmId === order.vmId);
      const web = vm?.ports['80'];
      if (web !== undefined) process.stdout.write(`VM ${order.vmId} boots. Its port 80 is http://127.0.0.1:${web}/\n`);
    },
  };
}
