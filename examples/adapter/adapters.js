// @ts-check
/**
 * An adapter for a provider whose VMs are described by files: each VM is a JSON file in a folder, from which another tool, such as Ansible,
 * builds the machine. The service loads it with RESELLER_ADAPTERS=./adapters.js.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @import { AdapterContext, Adapters, FencingToken, VmOrder } from '@reseller/adapters' */
/** @typedef {Omit<VmOrder, 'password'> & { service: string, token: FencingToken, state: 'running' | 'stopped' }} Machine */

/**
 * @param {AdapterContext} context
 * @returns {Adapters}
 */
export function createAdapters({ directory, fence, serviceId }) {
  const folder = join(directory, 'inventory');
  mkdirSync(folder, { recursive: true });

  function fileOf(/** @type {number} */ vmId) {
    return join(folder, `vm-${vmId}.json`);
  }

  /** @returns {Machine | undefined} */
  function read(/** @type {number} */ vmId) {
    let text;
    try {
      text = readFileSync(fileOf(vmId), 'utf8');
    } catch {
      return undefined;
    }
    const machine = text.startsWith('{') ? JSON.parse(text) : {};
    // A file without the mark belongs to another program, which may use the same name.
    if (machine.service !== serviceId) throw new Error(`The file ${fileOf(vmId)} does not belong to this service.`);
    return machine;
  }

  /** Replaces the file in one step, so that a crash leaves the old or the new one. */
  function write(/** @type {Machine} */ machine) {
    const draft = join(folder, `.${serviceId}-${machine.vmId}.draft`);
    writeFileSync(draft, JSON.stringify(machine, null, 2));
    renameSync(draft, fileOf(machine.vmId));
  }

  /** Nothing waits between `admit` and the change, so that no other call comes in between. */
  async function change(/** @type {number} */ vmId, /** @type {Partial<Machine>} */ changed, /** @type {FencingToken} */ token) {
    await fence.admit(`vm/${vmId}`, token);
    const machine = read(vmId);
    if (machine === undefined) throw new Error(`VM ${vmId} does not exist.`);
    write({ ...machine, ...changed, token });
  }

  return {
    hypervisor: {
      async create({ password: _shownOnce, ...order }, token) {
        await fence.admit(`vm/${order.vmId}`, token);
        // It throws if the file belongs to another program.
        read(order.vmId);
        write({ ...order, service: serviceId, token, state: 'running' });
      },
      reinstall: ({ vmId, ...installation }, token) => change(vmId, { ...installation, state: 'running' }, token),
      start: (vmId, token) => change(vmId, { state: 'running' }, token),
      restart: (vmId, token) => change(vmId, { state: 'running' }, token),
      // This provider's VMs accept SSH keys only.
      setLogin: (vmId, _login, token) => change(vmId, {}, token),
      async stop(vmId, token) {
        await fence.admit(`vm/${vmId}`, token);
        const machine = read(vmId);
        if (machine !== undefined) write({ ...machine, state: 'stopped', token });
      },
      resize: (size, token) => change(size.vmId, size, token),
      async remove(vmId, token) {
        await fence.admit(`vm/${vmId}`, token);
        if (read(vmId) !== undefined) rmSync(fileOf(vmId));
      },
    },
  };
}
