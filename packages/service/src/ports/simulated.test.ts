import { hypervisorConformance } from '@reseller/adapters/conformance';
import { dnsConformance } from '@reseller/adapters/conformance/dns';
import { registrarConformance } from '@reseller/adapters/conformance/registrar';
import { describe, expect, onTestFinished, test } from 'vitest';

import { TestRegistrar } from '../../test/ports/registrar.ts';
import { simulatedDns, simulatedHypervisor, simulatedRegistrar } from './simulated.ts';

describe('the simulated hypervisor, which has no VMs', () => {
  const cases = hypervisorConformance(async () => ({ open: async (fence) => simulatedHypervisor(fence), close: async () => {} }));
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});

test('a reinstallation ends the consoles of the simulated VM, and of no other', async () => {
  const hypervisor = simulatedHypervisor();
  const [own, other] = [await hypervisor.console?.(1), await hypervisor.console?.(2)];
  onTestFinished(() => void other?.destroy());
  await hypervisor.reinstall({ vmId: 1, os: 'debian_12', hostname: 'vm', sshKey: null, userData: null }, 1);
  expect([own?.destroyed, other?.destroyed]).toEqual([true, false]);
});

describe('the simulated DNS, which has no zones', () => {
  const cases = dnsConformance(async () => ({ open: async (fence) => simulatedDns(fence), close: async () => {} }));
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});

describe('the simulated registrar, which has no domains', () => {
  const cases = registrarConformance(async () => ({ open: async (fence) => simulatedRegistrar(fence), close: async () => {} }));
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});

describe('the registrar of the tests', () => {
  const cases = registrarConformance(async () => {
    const registrar = new TestRegistrar();
    return {
      open: async () => registrar,
      async domain(name) {
        const domain = registrar.domains.get(name);
        return domain && { ...domain, handle: domain.contact.handle };
      },
      close: async () => {},
    };
  });
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});
