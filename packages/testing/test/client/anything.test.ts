/** Concurrent identical purchases, each with its own fault or none. The VMs must be those that the client reports. */
import { OutcomeUnknownError } from '@reseller/client';
import type { Fault } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../../.config/depth.ts';
import { SMALL_VM, vmsOf } from './purchases.ts';

const bad = () => new Response('<html>', { status: 502 });
const faults: readonly (Fault | undefined)[] = [
  undefined,
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'after' },
  { kind: 'cut-body' },
  { kind: 'response', when: 'before', response: bad },
  { kind: 'response', when: 'after', response: bad },
];
const fault = fc.constantFrom(...faults);

test.each([
  ['honours keys', true],
  ['honours no keys', false],
])('at a server that %s, the client reports each VM that was bought', async (_, honours) => {
  await fc.assert(
    // The purchases of a batch are concurrent. The batches follow each other.
    fc.asyncProperty(fc.array(fc.array(fault, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }), async (batches) => {
      await using service = await createTestService();
      const reseller = service.reseller(honours ? {} : { honoursIdempotencyKey: false });
      await reseller.vm.hosts();
      const bought = new Set<number>();
      let undecided = 0;
      const buy = async () => {
        try {
          bought.add((await reseller.vm.create(SMALL_VM)).identifier);
        } catch (error) {
          if (!(error instanceof OutcomeUnknownError)) throw error;
          return error;
        }
        return undefined;
      };
      for (const batch of batches) {
        for (const met of batch) if (met) service.faults.add(met, { path: '/vm/create' });
        const lost = await Promise.all(batch.map(buy));
        service.faults.clear();
        for (const error of lost) {
          if (!error) continue;
          const found = await reseller.reconcile(error);
          if (found.outcome === 'undecided') undecided++;
          else if (found.outcome === 'committed' && found.operation === 'createVm') {
            // No purchase is reported for two requests.
            expect(bought.has(found.data.identifier)).toBe(false);
            bought.add(found.data.identifier);
          }
        }
        service.clock.advance(60_000);
      }
      const vms = await vmsOf(service);
      expect(vms).toBeLessThanOrEqual(batches.flat().length);
      // A decided outcome is true. Only undecided purchases may be missing.
      expect(vms - bought.size).toBeGreaterThanOrEqual(0);
      expect(vms - bought.size).toBeLessThanOrEqual(undecided);
    }),
    { numRuns: amountOf('PROPERTY_RUNS', { usual: 10, deep: 100 }) },
  );
});
