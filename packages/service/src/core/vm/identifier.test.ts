/** Identifiers of removed VMs are given to other VMs, and every invoice stays unambiguous. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { invoicesOf } from '../../../test/provider.ts';
import { systemRandom } from '../../ports/random.ts';
import { drawIdentifier } from './identifier.ts';

const DAY = 86_400_000;

test('draws no identifier a second time until half of them were drawn', () => {
  const drawn = new Set<number>();
  const draw = () => drawIdentifier(systemRandom, { minimum: 10_000, maximum: 10_019 }, drawn);
  const first = Array.from({ length: 10 }, draw);
  expect(new Set(first).size).toBe(10);
  expect(Array.from({ length: 200 }, draw).some((identifier) => first.includes(identifier))).toBe(true);
});

describe.each(engines)('on %s', (engine) => {
  test('when every identifier is taken, purchases are refused until a removed VM is out of quarantine and off the running invoice', async () => {
    const service = await start(engine, 3);
    await setQuarantine(service, 15);
    const taken = [await bought(service), await bought(service), await bought(service)];
    expect(taken.toSorted()).toEqual([10_000, 10_001, 10_002]);
    expect(await buy(service)).toMatchObject({ status: 409, body: { type: 'out_of_capacity' } });

    const [first = 0] = taken;
    await remove(service, first);
    expect((await buy(service)).status).toBe(409);
    // Out of quarantine on 25 November, and the invoice of November is made on 1 December.
    service.clock.advanceTo('2026-11-30T23:59:59Z');
    expect((await buy(service)).status).toBe(409);
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    expect(await bought(service)).toBe(first);
    await expectInvariants(service.store);
  });

  test('the quarantine counts from the removal, to the millisecond, also when the invoice was made long ago', async () => {
    const service = await start(engine, 1);
    const identifier = await bought(service);
    await remove(service, identifier);
    service.clock.advance(90 * DAY - 1);
    expect((await buy(service)).status).toBe(409);
    service.clock.advance(1);
    expect(await bought(service)).toBe(identifier);
    await setQuarantine(service, 1);
    await remove(service, identifier);
    service.clock.advance(40 * DAY);
    expect(await bought(service)).toBe(identifier);
  });

  test('an invoice has one VM for each identifier, and only the present VM of a reused identifier can be used', async () => {
    const service = await start(engine, 1);
    await setQuarantine(service, 1);
    const identifier = await bought(service);
    const path = { vmid: String(identifier) };
    service.clock.advance(5 * DAY);
    await remove(service, identifier);
    service.clock.advanceTo('2026-12-05T00:00:00Z');
    await service.runScheduledJobs();
    const other = await service.account();
    expect(await bought(service, other.apiKey)).toBe(identifier);
    expect((await service.call('reinstallVm', { path })).status).toBe(404);
    expect((await service.call('reinstallVm', { path, apiKey: other.apiKey })).status).toBe(200);
    service.clock.advance(2 * DAY);
    await remove(service, identifier);
    // The first account buys again, and is billed for its two VMs on two invoices.
    service.clock.advanceTo('2027-01-10T00:00:00Z');
    await service.runScheduledJobs();
    expect(await bought(service)).toBe(identifier);
    service.clock.advanceTo('2027-02-01T00:00:00Z');
    await service.runScheduledJobs();

    expect(await positionsOf(service, service.apiKey)).toEqual([
      [`${identifier} CREATE 2026-11-10T12:00:00.000Z 2026-11-15T12:00:00.000Z`],
      [`${identifier} CREATE 2027-01-10T00:00:00.000Z 2027-02-01T00:00:00.000Z`],
    ]);
    expect(await positionsOf(service, other.apiKey)).toEqual([[`${identifier} CREATE 2026-12-05T00:00:00.000Z 2026-12-07T00:00:00.000Z`]]);
    const current = (await service.call('getCurrentInvoice')).body.data.positions.vms;
    expect(current).toMatchObject({ [identifier]: [{ type: 'BILLINGRESTART' }] });
    await expectInvariants(service.store);
  });

  test('of purchases at once, each gets an identifier of its own, and as many pass as there are', async () => {
    const service = await start(engine, 6);
    await setQuarantine(service, 1);
    const before = await Promise.all(Array.from({ length: 6 }, () => bought(service)));
    expect(new Set(before).size).toBe(6);
    const gone = before.slice(0, 4);
    for (const identifier of gone) await remove(service, identifier);
    service.clock.advanceTo('2026-12-02T00:00:00Z');
    const responses = await Promise.all(Array.from({ length: 12 }, () => buy(service)));
    const passed = responses.filter(({ status }) => status === 200).map(({ body }) => body.data.identifier);
    expect(passed.toSorted()).toEqual(gone.toSorted());
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(8);
    await expectInvariants(service.store);
  });

  test('a purchase that fails gives its identifier back, and a removal that is not done yet keeps it', async () => {
    const service = await start(engine, 1);
    await setQuarantine(service, 1);
    const identifier = await bought(service);
    service.hypervisor.failingToRemove = new Error('The hypervisor is away.');
    expect(await refusalOf(operator.removeVm({ client: service.client, path: { vm_id: String(identifier) } }))).toMatchObject({
      status: 503,
    });
    service.clock.advance(60 * DAY);
    expect((await buy(service)).status).toBe(409);
    service.hypervisor.failingToRemove = undefined;
    await service.runScheduledJobs();

    service.hypervisor.failing = new Error('The hypervisor is away.');
    expect((await buy(service)).status).toBe(500);
    service.hypervisor.failing = undefined;
    expect(await bought(service)).toBe(identifier);
    await expectInvariants(service.store);
  });
});

async function start(engine: Engine, count: number): Promise<TestOperator> {
  const vmIdentifiers = { minimum: 10_000, maximum: 10_000 + count - 1 };
  return startOperator({ vmIdentifiers, engine });
}

function buy(service: TestOperator, apiKey = service.apiKey) {
  return service.call('createVm', { form: SMALL_VM, apiKey });
}

async function bought(service: TestOperator, apiKey = service.apiKey): Promise<number> {
  const { status, body } = await buy(service, apiKey);
  expect(status, `${body.message}`).toBe(200);
  return body.data.identifier;
}

async function remove({ client }: TestOperator, identifier: number): Promise<void> {
  await operator.removeVm({ client, path: { vm_id: String(identifier) } });
}

async function setQuarantine({ client }: TestOperator, days: number): Promise<void> {
  const settings = await operator.setVmIdentifierQuarantine({ client, body: { vm_identifier_quarantine_days: days } });
  expect(settings.vm_identifier_quarantine_days).toBe(days);
}

/** The positions of each closed invoice, oldest first, as texts. */
async function positionsOf(service: TestOperator, apiKey: string): Promise<string[][]> {
  const all: string[][] = [];
  for (const { id } of (await invoicesOf(service, apiKey)).toReversed()) {
    const { positions } = (await service.call('getInvoice', { path: { invoiceID: id }, apiKey })).body.data;
    const vms: [string, { type: string; start: string; stop: string }[]][] = Object.entries(positions.vms);
    all.push(vms.flatMap(([vm, own]) => own.map(({ type, start: from, stop }) => `${vm} ${type} ${from} ${stop}`)));
  }
  return all;
}
