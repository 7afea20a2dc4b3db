/** Creates a VM, for a test that kills this process while it does: `node create-vm.ts OPTIONS`. */
import { memoryFence } from '../src/index.ts';
import { qemuHypervisor } from '../src/qemu/hypervisor.ts';
import { ORDER } from './qemu.ts';

const options: { serviceId: string; directory: string; images: string } = JSON.parse(process.argv[2] ?? '{}');
const hypervisor = qemuHypervisor({ ...options, fence: memoryFence(), accelerator: 'tcg' });
process.send?.('begins');
await hypervisor.create(ORDER, 1);
