import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isVmState, vmStateAfter, vmStatesBefore } from './vm-state.ts';
import type { VmEvent, VmState } from './vm-state.ts';

const events: fc.Arbitrary<VmEvent> = fc.constantFrom('resize', 'stop', 'start', 'remove');

test('stops a running VM, starts a stopped one, and resizes or removes either', () => {
  expect(vmStateAfter('running', 'stop')).toBe('stopped');
  expect(vmStateAfter('running', 'start')).toBeUndefined();
  expect(vmStateAfter('stopped', 'start')).toBe('running');
  expect(vmStateAfter('stopped', 'stop')).toBeUndefined();
  expect((['running', 'stopped'] as const).map((state) => vmStateAfter(state, 'resize'))).toEqual(['running', 'stopped']);
});

test('allows no event during a delivery or after a removal', () => {
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

/** The state after each event that each state allows. */
const ALLOWED: Readonly<Record<VmState, Partial<Record<VmEvent, VmState>>>> = {
  reserved: {},
  installing: {},
  running: {
    resize: 'running',
    'restart-billing': 'running',
    restart: 'running',
    'reset-password': 'running',
    stop: 'stopped',
    remove: 'removed',
  },
  stopped: { resize: 'stopped', start: 'running', remove: 'removed' },
  removed: {},
};
const STATES = ['reserved', 'installing', 'running', 'stopped', 'removed'] as const;
const EVENTS = ['resize', 'restart-billing', 'restart', 'reset-password', 'stop', 'start', 'remove'] as const;

test.each(EVENTS)('the event %s leads from each state where it should, and nowhere else', (event) => {
  expect(STATES.map((state) => vmStateAfter(state, event))).toEqual(STATES.map((state) => ALLOWED[state][event]));
  expect(vmStatesBefore(event)).toEqual(STATES.filter((state) => ALLOWED[state][event] !== undefined));
});

test('accepts only the names of states', () => {
  expect(STATES.map(isVmState)).toEqual(STATES.map(() => true));
  for (const text of ['', 'Running', 'toString', '__proto__']) expect(isVmState(text)).toBe(false);
});
