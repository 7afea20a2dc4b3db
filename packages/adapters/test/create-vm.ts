/**
 * Creates a VM, for a test of a process that is killed meanwhile: `node create-vm.ts OPTIONS`. With `endsAt`, it ends itself as soon as a file
 * with such a name appears in the folder. Otherwise the test kills it.
 */
import { watch } from 'node:fs';

import { memoryFence } from '../src/index.ts';
import { qemuHypervisor } from '../src/qemu/hypervisor.ts';
import { ORDER } from './qemu.ts';

const options: { serviceId: string; directory: string; images: string; endsAt?: string } = JSON.parse(process.argv[2] ?? '{}');
const { endsAt } = options;
if (endsAt !== undefined) watch(options.directory, (_, name) => name?.startsWith(endsAt) && process.kill(process.pid, 'SIGKILL'));
const hypervisor = qemuHypervisor({ ...options, fence: memoryFence(), accelerator: 'tcg' });
// The listener keeps the process alive until it is killed, also if the creation ends before that.
process.on('message', () => {});
process.send?.('begins');
await hypervisor.create(ORDER, 1);
