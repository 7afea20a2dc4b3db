import fc from 'fast-check';
import { expect, test } from 'vitest';

import { vmStateAfter } from './vm-state.ts';
import type { VmEvent, VmState } from './vm-state.ts';

const events: fc.Arbitrary<VmEvent> = fc.constantFrom('resize', 'stop', 'start', 'remove');

test('a running VM is stopped, a stopped one started, either resized or removed', () => {
  expect(vmStateAfter('running', 'stop')).toBe('stopped');
  expect(vmStateAfter('running', 'start')).toBeUndefined();
  expect(vmStateAfter('stopped', 'start')).toBe('running');
  expect(vmStateAfter('stopped', 'stop')).toBeUndefined();
  expect((['running', 'stopped'] as const).map((state) => vmStateAfter(state, 'resize'))).toEqual(['running', 'stopped']);
});

test('nothing happens to a VM that is being delivered, and nothing after its removal', () => {
  fc.assert(
    fc.property(fc.array(events), (all) => {
      let state: VmState = 'running';
      let removed = false;
      for (const event of all) {
        expect(vmStateAfter('reserved', event)).toBeUndefined();
        const next: VmState | undefined = vmStateAfter(state, event);
        if (removed) expect(next).toBeUndefined();
        removed ||= next === 'removed';
        state = next ?? state;
      }
    }),
  );
});
