/** A month ends during a port call of each delivered operation. Every invoice and every hold stays exact. */
import { describe, expect, test } from 'vitest';

import type { OperationId } from '../src/reseller/operation.ts';
import { operations } from '../src/reseller/table.ts';
import { goodCall } from './good-calls.ts';
import type { Owner } from './good-calls.ts';
import { SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import { expectExactHolds, expectInvariants } from './invariants.ts';
import { TestFleet } from './ports/fleet.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { aroundPort, PortFailure } from './ports/port-calls.ts';
import { TestRegistrar } from './ports/registrar.ts';

const DECEMBER = Date.UTC(2026, 11) / 1000;

/** Members of the ports that change nothing. */
const READ_ONLY: ReadonlySet<string | symbol> = new Set(['isAvailable', 'usage']);

/** Runs work of the test within the next call of a port that changes something. */
class Interruption {
  #next: (() => Promise<void>) | undefined;
  /** @param work If it throws, the port throws the same error. */
  within(work: () => Promise<void>): void {
    this.#next = work;
  }
  around<Port extends object>(port: Port): Port {
    return aroundPort(port, async (member, work) => {
      if (READ_ONLY.has(member)) return work();
      const first = this.#next;
      this.#next = undefined;
      await first?.();
      return work();
    });
  }
}

async function interruptible() {
  const interruption = new Interruption();
  const service = await startService({
    hypervisor: interruption.around(new TestHypervisor()),
    registrar: interruption.around(new TestRegistrar()),
    fleet: interruption.around(new TestFleet()),
  });
  return { service, interruption, owner: await service.account() };
}

type Prepare = (service: TestService, owner: Owner) => Promise<() => Promise<unknown>>;

const delivered = Object.entries(operations).flatMap(([id, { kind }]) => (kind === 'delivered' ? [id] : []));
const isOperation = (id: string): id is OperationId => Object.hasOwn(operations, id);
const vmOf = async (service: TestService, { apiKey }: Owner): Promise<number> =>
  (await service.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier;

/** Each operation of the reseller API that needs the infrastructure, and the commands of the provider. */
const changes: readonly { readonly name: string; readonly prepare: Prepare }[] = [
  ...delivered.filter(isOperation).map((id) => ({
    name: id,
    prepare: async (service: TestService, owner: Owner) => {
      const sent = await goodCall(service, id, owner);
      return async () => {
        const { status } = await service.call(id, sent);
        if (status !== 200) throw new Error(`The status is ${status}.`);
      };
    },
  })),
  ...(['stop', 'remove'] as const).map((command) => ({
    name: `${command} a VM`,
    prepare: async (service: TestService, owner: Owner) => {
      const vm = await vmOf(service, owner);
      return () => service.vms[command](vm);
    },
  })),
  {
    name: 'start a VM',
    async prepare(service, owner) {
      const vm = await vmOf(service, owner);
      await service.vms.stop(vm);
      return () => service.vms.start(vm);
    },
  },
  {
    name: 'resize a VM',
    async prepare(service, owner) {
      const vm = await vmOf(service, owner);
      return () => service.vms.resize(vm, { resources: { cores: 4, ips: 2 } });
    },
  },
];

/** The periods of the account's invoices. */
const invoicedMonths = ({ store }: TestService, { id }: Owner) =>
  store.read((db) => db.selectFrom('invoices').select('period_start').where('account_id', '=', id).orderBy('period_start').execute());

async function endMonth(service: TestService, end: string): Promise<void> {
  service.clock.advanceTo(end);
  await service.runScheduledJobs();
}

test('there are delivered operations', () => expect(delivered.length).toBeGreaterThan(5));

describe.each(changes)('$name', ({ prepare }) => {
  test('works although the month ends during its port call, and both months are billed exactly', async () => {
    const { service, interruption, owner } = await interruptible();
    const act = await prepare(service, owner);
    interruption.within(async () => {
      await endMonth(service, '2026-12-01T00:00:00Z');
      await expectExactHolds(service.store);
    });
    await act();
    await expectInvariants(service.store);
    await endMonth(service, '2026-12-15T00:00:00Z');
    await expectInvariants(service.store);
    await endMonth(service, '2027-01-01T00:00:00Z');
    await expectInvariants(service.store);
    for (const { period_start } of await invoicedMonths(service, owner)) expect([DECEMBER - 30 * 86_400, DECEMBER]).toContain(period_start);
  });

  test('fails at a port after the month has ended, and nothing is billed that was not delivered', async () => {
    const { service, interruption, owner } = await interruptible();
    const act = await prepare(service, owner);
    interruption.within(async () => {
      await endMonth(service, '2026-12-01T00:00:00Z');
      throw new PortFailure('The port failed.');
    });
    await act().catch(() => {});
    await service.runScheduledJobs();
    expect(await service.store.read((db) => db.selectFrom('reservations').select('id').execute())).toEqual([]);
    await expectInvariants(service.store);
    await endMonth(service, '2027-01-01T00:00:00Z');
    await expectInvariants(service.store);
  });
});
