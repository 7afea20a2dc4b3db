/** What a reseller and the provider may do, at random, and how the service and the model of billing each do it. */
import fc from 'fast-check';
import { expect } from 'vitest';

import { chargeOwed } from '../src/core/accounting/charge.ts';
import type { BillingModel, Host, ModelVm, Resources } from './billing-model.ts';
import { hosts } from './billing-model.ts';
import type { TestService } from './harness.ts';
import { providerOf } from './provider.ts';

export type Command =
  | { readonly does: 'buy'; readonly host: Host; readonly resources: Resources }
  | { readonly does: 'resize'; readonly which: number; readonly resources: Partial<Resources> }
  | { readonly does: 'stop' | 'start' | 'remove'; readonly which: number }
  | { readonly does: 'charge'; readonly cents: number }
  | { readonly does: 'pay' | 'cancel'; readonly which: number }
  | { readonly does: 'advance'; readonly milliseconds: number }
  | { readonly does: 'advance to the end of the month'; readonly offset: number };

const which = fc.nat({ max: 7 });
// What every host system offers.
const resources = {
  cores: fc.integer({ min: 1, max: 16 }),
  mem: fc.integer({ min: 2, max: 64 }).map((halves) => halves * 512),
  disk: fc.integer({ min: 2, max: 60 }).map((fives) => fives * 5),
  ips: fc.integer({ min: 1, max: 4 }),
  backup_slots: fc.integer({ min: 0, max: 10 }),
  network_speed: fc.integer({ min: 1, max: 10 }).map((hundreds) => hundreds * 100),
};
const HOUR = 3_600_000;

export const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ does: fc.constant('buy' as const), host: fc.constantFrom(...hosts), resources: fc.record(resources) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ does: fc.constant('resize' as const), which, resources: fc.record(resources, { requiredKeys: [] }) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ does: fc.constantFrom('stop' as const, 'start' as const, 'start' as const, 'remove' as const), which }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('charge' as const), cents: fc.integer({ min: 1, max: 20_000 }) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('pay' as const, 'cancel' as const), which }) },
    {
      weight: 7,
      arbitrary: fc.record({
        does: fc.constant('advance' as const),
        milliseconds: fc.oneof(
          fc.integer({ min: 0, max: 2500 }),
          fc.integer({ min: 0, max: 400 * HOUR }),
          fc.integer({ min: 0, max: 1700 * HOUR }),
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constant('advance to the end of the month' as const), offset: fc.integer({ min: -2, max: 2 }) }),
    },
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
);

/** The service and the model side by side. */
export interface Both {
  readonly service: TestService;
  readonly model: BillingModel;
  readonly accountId: string;
}

/** Has both carry out a command; where the service must refuse it, it does. */
export async function carryOut(both: Both, command: Command): Promise<void> {
  const { service, model, accountId } = both;
  const { clock } = service;
  const now = Math.floor(clock.now() / 1000);
  switch (command.does) {
    case 'buy': {
      const { host, resources: bought } = command;
      const { status, body } = await service.call('createVm', { form: { ...bought, os: 'debian_12', hostsystem: host } });
      expect(status, `${body.message}`).toBe(200);
      return model.buy(body.data.identifier, host, bought, now);
    }
    case 'charge': {
      const charge = {
        accountId,
        kind: 'domain',
        subject: 'reseller-customer.net',
        type: 'CREATE',
        start: now,
        stop: now + 1,
        amount: BigInt(command.cents) * 1_000_000n,
      } as const;
      await service.store.commit(({ db }) => chargeOwed(db, service.ports, charge, clock.now()));
      model.charges.push({ at: now, cents: BigInt(command.cents) });
      return;
    }
    case 'advance':
      return clock.advance(command.milliseconds);
    case 'advance to the end of the month': {
      const date = new Date(clock.now());
      const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) + command.offset * 1000;
      return clock.advance(Math.max(0, end - clock.now()));
    }
    case 'pay':
    case 'cancel':
      return settle(both, command, now);
    default: {
      const vm = model.vms[command.which % model.vms.length];
      if (vm) await change(both, vm, command, now);
    }
  }
}

async function settle({ service, model }: Both, { does, which: index }: Command & { does: 'pay' | 'cancel' }, now: number): Promise<void> {
  const provider = providerOf(service);
  const invoices = model.invoices(now);
  const at = index % invoices.length;
  const invoice = invoices[at];
  if (!invoice) return;
  const [id = ''] = Object.keys((await service.call('listInvoices')).body.data)
    .toReversed()
    .slice(at);
  const settled = does === 'pay' ? provider.markPaid(id) : provider.cancel(id);
  if (invoice.status !== 'OPEN') return expect(settled).rejects.toMatchObject({ status: 409 });
  await settled;
  model.settled.set(invoice.month, does === 'pay' ? 'PAID' : 'CANCELED');
}

async function change(
  both: Both,
  vm: ModelVm,
  command: Command & { does: 'resize' | 'stop' | 'start' | 'remove' },
  now: number,
): Promise<void> {
  const { service, model } = both;
  const provider = providerOf(service);
  const done = command.does === 'resize' ? provider.resize(vm.id, command.resources) : provider[command.does](vm.id);
  if (
    vm.state === 'removed' ||
    (command.does === 'stop' && vm.state === 'stopped') ||
    (command.does === 'start' && vm.state === 'running')
  ) {
    return expect(done).rejects.toMatchObject({ status: 409 });
  }
  await done;
  if (command.does === 'resize') model.resize(vm, command.resources, now);
  else model[command.does](vm, now);
}
