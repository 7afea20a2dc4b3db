import { hypervisorConformance } from '@reseller/adapters/conformance';
import { describe, expect, test } from 'vitest';

import { simulatedHypervisor } from './simulated.ts';

describe('the simulated hypervisor, which has no VMs', () => {
  const cases = hypervisorConformance(async () => ({ open: async (fence) => simulatedHypervisor(fence), close: async () => {} }));
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
});
