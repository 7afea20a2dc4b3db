import { hypervisorConformance } from '@reseller/adapters/conformance';
import { dnsConformance } from '@reseller/adapters/conformance/dns';
import { describe, expect, test } from 'vitest';

import { simulatedDns, simulatedHypervisor } from './simulated.ts';

describe('the simulated hypervisor, which has no VMs', () => {
  const cases = hypervisorConformance(async () => ({ open: async (fence) => simulatedHypervisor(fence), close: async () => {} }));
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});

describe('the simulated DNS, which has no zones', () => {
  const cases = dnsConformance(async () => ({ open: async (fence) => simulatedDns(fence), close: async () => {} }));
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});
