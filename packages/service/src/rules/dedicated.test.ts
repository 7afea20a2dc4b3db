import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cancelServer, completeSetUp, endOfRuntime, order, reachRenewal, withdrawServerCancellation } from './dedicated.ts';
import type { ServerState, ServerTransition } from './dedicated.ts';

const instants = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) / 1000 });
const days = fc.integer({ min: 1, max: 366 });
const states: fc.Arbitrary<ServerState> = fc.oneof(
  fc.constant({ phase: 'offered' } as const),
  fc.record({ phase: fc.constant('ordered' as const), setUpDue: fc.option(instants) }),
  fc.record({ phase: fc.constant('deployed' as const), renew: instants, terminated: fc.boolean() }),
  fc.constant({ phase: 'ended' } as const),
);

type Step = (state: ServerState, at: number, runtime: number) => ServerTransition;
const steps: Readonly<Record<string, Step>> = {
  order: (state, at) => order(state, at),
  completeSetUp,
  cancelServer,
  withdrawServerCancellation,
  reachRenewal,
  // The renewal date itself, if there is one. A random instant would almost never equal it.
  renewalDate: (state, at, runtime) => reachRenewal(state, state.phase === 'deployed' ? state.renew : at, runtime),
};
const anyStep = fc.constantFrom(...Object.values(steps));

/** The states in the table of the specification. */
function nameOf(state: ServerState): string {
  return state.phase === 'deployed' && state.terminated ? 'terminated' : state.phase;
}

const LEGAL: ReadonlySet<string> = new Set([
  'offered -> ordered',
  'ordered -> deployed',
  'deployed -> terminated',
  'terminated -> deployed',
  'deployed -> deployed',
  'terminated -> ended',
  'none',
]);

test('allows no transition that the specification does not list', () => {
  fc.assert(
    fc.property(states, anyStep, instants, days, (state, step, at, runtime) => {
      const transition = step(state, at, runtime);
      const taken = 'next' in transition ? `${nameOf(state)} -> ${nameOf(transition.next)}` : 'none';
      expect(LEGAL).toContain(taken);
    }),
  );
});

test('allows exactly the specified steps in each state', () => {
  const at = 1000;
  const all: readonly ServerState[] = [
    { phase: 'offered' },
    { phase: 'ordered', setUpDue: null },
    { phase: 'deployed', renew: at, terminated: false },
    { phase: 'deployed', renew: at, terminated: true },
    { phase: 'ended' },
  ];
  const named = Object.entries(steps).filter(([name]) => name !== 'renewalDate');
  const allowedOf = (state: ServerState) => named.filter(([, step]) => 'next' in step(state, at, 30)).map(([name]) => name);
  expect(Object.fromEntries(all.map((state) => [nameOf(state), allowedOf(state)]))).toEqual({
    offered: ['order'],
    ordered: ['completeSetUp'],
    deployed: ['cancelServer', 'reachRenewal'],
    terminated: ['withdrawServerCancellation', 'reachRenewal'],
    ended: [],
  });
});

test('keeps renewal dates at whole runtimes after the set-up for any sequence of steps, and never leaves the ended state', () => {
  fc.assert(
    fc.property(instants, days, fc.array(anyStep, { maxLength: 40 }), (at, runtime, sequence) => {
      let state: ServerState = { phase: 'offered' };
      for (const step of [steps['order'], steps['completeSetUp'], ...sequence]) {
        const transition: ServerTransition = step?.(state, at, runtime) ?? { refused: 'gone' };
        if (state.phase === 'ended') expect(transition).toHaveProperty('refused');
        if ('next' in transition) state = transition.next;
        if (state.phase === 'deployed') {
          expect(state.renew).toBeGreaterThan(at);
          expect((state.renew - at) % (runtime * 86_400)).toBe(0);
        }
      }
    }),
  );
});

test('changes nothing by a cancellation and its withdrawal', () => {
  fc.assert(
    fc.property(instants, (renew) => {
      const state = { phase: 'deployed', renew, terminated: false } as const;
      const cancelled = cancelServer(state);
      expect('next' in cancelled && withdrawServerCancellation(cancelled.next)).toEqual({ next: state });
    }),
  );
});

test('never renews a cancelled server, and never ends any other one', () => {
  fc.assert(
    fc.property(instants, days, fc.boolean(), (renew, runtime, terminated) => {
      const reached = reachRenewal({ phase: 'deployed', renew, terminated }, renew, runtime);
      expect(reached).toEqual({
        next: terminated ? { phase: 'ended' } : { phase: 'deployed', renew: endOfRuntime(renew, runtime), terminated: false },
      });
    }),
  );
});

test('renews a server only on its date', () => {
  fc.assert(
    fc.property(instants, instants, fc.boolean(), (renew, at, terminated) => {
      fc.pre(renew !== at);
      expect(reachRenewal({ phase: 'deployed', renew, terminated }, at, 30)).toEqual({ refused: 'not due' });
    }),
  );
});

test('returns the reason for each step that a state does not allow', () => {
  const at = 1000;
  const all = {
    offered: { phase: 'offered' },
    ordered: { phase: 'ordered', setUpDue: null },
    deployed: { phase: 'deployed', renew: at, terminated: false },
    terminated: { phase: 'deployed', renew: at, terminated: true },
    ended: { phase: 'ended' },
  } as const satisfies Record<string, ServerState>;
  const reasons = (step: Step) =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, state]) => {
        const transition = step(state, at, 30);
        return 'refused' in transition ? [[name, transition.refused]] : [];
      }),
    );
  expect(reasons((state) => order(state, null))).toEqual({
    ordered: 'not offered',
    deployed: 'not offered',
    terminated: 'not offered',
    ended: 'not offered',
  });
  expect(reasons(completeSetUp)).toEqual({
    offered: 'not being set up',
    deployed: 'not being set up',
    terminated: 'not being set up',
    ended: 'not being set up',
  });
  expect(reasons(cancelServer)).toEqual({ offered: 'gone', ordered: 'being set up', terminated: 'already cancelled', ended: 'gone' });
  expect(reasons(withdrawServerCancellation)).toEqual({
    offered: 'gone',
    ordered: 'not cancelled',
    deployed: 'not cancelled',
    ended: 'gone',
  });
  expect(reasons(reachRenewal)).toEqual({ offered: 'not due', ordered: 'not due', ended: 'not due' });
});

test('keeps the due date of a set-up, and gives the first runtime its days to the second', () => {
  expect(order({ phase: 'offered' }, 5)).toEqual({ next: { phase: 'ordered', setUpDue: 5 } });
  expect(completeSetUp({ phase: 'ordered', setUpDue: 5 }, 7, 30)).toEqual({
    next: { phase: 'deployed', renew: 7 + 2_592_000, terminated: false },
  });
});
