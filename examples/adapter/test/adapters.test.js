// @ts-check
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { hypervisorConformance } from '@reseller/adapters/conformance';

import { createAdapters } from '../adapters.js';

/** @import { HypervisorSystem } from '@reseller/adapters/conformance' */

/** @returns {Promise<HypervisorSystem>} */
async function newSystem() {
  const directory = mkdtempSync(join(tmpdir(), 'adapter-'));
  const folder = join(directory, 'inventory');
  function fileOf(/** @type {number} */ vmId) {
    return join(folder, `vm-${vmId}.json`);
  }
  function contents() {
    const names = readdirSync(folder).toSorted();
    return names.map((name) => readFileSync(join(folder, name), 'utf8'));
  }
  function isStrangers(/** @type {string} */ text) {
    return text.startsWith('Written by hand');
  }
  function ownsFile(/** @type {number} */ vmId) {
    return existsSync(fileOf(vmId)) && isStrangers(readFileSync(fileOf(vmId), 'utf8'));
  }
  return {
    async open(fence) {
      const { hypervisor } = await createAdapters({ mode: 'live', serviceId: 'service-1', directory, fence });
      if (hypervisor === undefined) throw new Error('The module has no hypervisor.');
      return hypervisor;
    },
    async machines() {
      const machines = contents().flatMap((text) => (isStrangers(text) ? [] : [JSON.parse(text)]));
      return machines.map(({ vmId, state, cores, mem }) => ({ vmId, running: state === 'running', cores, mem }));
    },
    async lose(vmId) {
      rmSync(fileOf(vmId));
    },
    stranger: {
      async create(vmId) {
        if (!existsSync(fileOf(vmId))) writeFileSync(fileOf(vmId), `Written by hand for ${vmId}`);
      },
      async rename(from, to) {
        if (ownsFile(from) && !existsSync(fileOf(to))) renameSync(fileOf(from), fileOf(to));
      },
      async remove(vmId) {
        if (ownsFile(vmId)) rmSync(fileOf(vmId));
      },
      async state() {
        return contents().filter(isStrangers).join('\n');
      },
    },
    async close() {
      rmSync(directory, { recursive: true });
    },
  };
}

for (const { name, run } of hypervisorConformance(newSystem)) test(name, run);
