/** The service reuses identifiers of removed VMs, and every invoice stays unambiguous. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { invoicesOf } from '../../../test/provider.ts';

const DAY = 86_400_000;

describe.each(engines)('on %s', (engine) => {
  test('refuses purchases while every identifier is in use, until a removed VM is out of quarantine and not on the current invoice', async () => {
    const service = await start(engine, 3);
    await setQuarantine(service, 15);
    const taken = [await buyVm(service), await buyVm(service), await buyVm(service)];
    expect(taken.toSorted()).toEqual([10_000, 10_001, 10_002]);
    expect(await requestVm(service)).toMatchObject({ status: 409, body: { type: 'out_of_capacity' } });

    const [first = 0] = taken;
    await remove(service, first);
    expect((await requestVm(service)).status).toBe(409);
    // Out of quarantine on 25 November, and the invoice of November is made on 1 December.
    service.clock.advanceTo('2026-11-30T23:59:59Z');
    expect((await requestVm(service)).status).toBe(409);
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    expect(await buyVm(service)).toBe(first);
    await expectInvariants(service.store);
  });

  test('counts the quarantine from the removal, to the millisecond, even if the invoice was issued long ago', async () => {
    const service = await start(engine, 1);
    const identifier = await buyVm(service);
    await remove(service, identifier);
    service.clock.advance(90 * DAY - 1);
    expect((await requestVm(service)).status).toBe(409);
    service.clock.advance(1);
    expect(await buyVm(service)).toBe(identifier);
    await setQuarantine(service, 1);
    await remove(service, identifier);
    service.clock.advance(40 * DAY);
    expect(await buyVm(service)).toBe(identifier);
  });

  test('has one VM for each identifier on an invoice, and gives access only to the current VM of a reused identifier', async () => {
    const service = await start(engine, 1);
    await setQuarantine(service, 1);
    const identifier = await buyVm(service);
    const path = { vmid: String(identifier) };
    service.clock.advance(5 * DAY);
    await remove(service, identifier);
    service.clock.advanceTo('2026-12-05T00:00:00Z');
    await service.runScheduledJobs();
    const other = await service.account();
    expect(await buyVm(service, other.apiKey)).toBe(identifier);
    expect((await service.call('reinstallVm', { path })).status).toBe(404);
    expect((await service.call('reinstallVm', { path, apiKey: other.apiKey })).status).toBe(200);
    service.clock.advance(2 * DAY);
    await remove(service, identifier);
    // The first account buys again, and its two VMs are on two invoices.
    service.clock.advanceTo('2027-01-10T00:00:00Z');
    await service.runScheduledJobs();
    expect(await buyVm(service)).toBe(identifier);
    service.clock.advanceTo('2027-02-01T00:00:00Z');
    await service.runScheduledJobs();

    expect(await positionsOf(service, service.apiKey)).toEqual([
      [`${identifier} CREATE 2026-11-10T12:03:17.000Z 2026-11-15T12:03:17.000Z`],
      [`${identifier} CREATE 2027-01-10T00:00:00.000Z 2027-02-01T00:00:00.000Z`],
    ]);
    expect(await positionsOf(service, other.apiKey)).toEqual([[`${identifier} CREATE 2026-12-05T00:00:00.000Z 2026-12-07T00:00:00.000Z`]]);
    const current = (await service.call('getCurrentInvoice')).body.data.positions.vms;
    expect(current).toMatchObject({ [identifier]: [{ type: 'BILLINGRESTART' }] });
    await expectInvariants(service.store);
  });

  test('gives each concurrent purchase its own identifier, and accepts as many as there are identifiers', async () => {
    const service = await start(engine, 6);
    await setQuarantine(service, 1);
    const before = await Promise.all(Array.from({ length: 6 }, () => buyVm(service)));
    expect(new Set(before).size).toBe(6);
    const gone = before.slice(0, 4);
    for (const identifier of gone) await remove(service, identifier);
    service.clock.advanceTo('2026-12-02T00:00:00Z');
    const responses = await Promise.all(Array.from({ length: 12 }, () => requestVm(service)));
    const passed = responses.filter(({ status }) => status === 200).map(({ body }) => body.data.identifier);
    expect(passed.toSorted()).toEqual(gone.toSorted());
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(8);
    await expectInvariants(service.store);
  });

  test('frees the identifier of a failed purchase, and keeps that of an unfinished removal', async () => {
    const service = await start(engine, 1);
    await setQuarantine(service, 1);
    const identifier = await buyVm(service);
    service.hypervisor.failingToRemove = new Error('The hypervisor is away.');
    expect(await refusalOf(operator.removeVm({ client: service.client, path: { vm_id: String(identifier) } }))).toMatchObject({
      status: 503,
    });
    service.clock.advance(60 * DAY);
    expect((await requestVm(service)).status).toBe(409);
    service.hypervisor.failingToRemove = undefined;
    await service.runScheduledJobs();

    service.hypervisor.failing = new Error('The hypervisor is away.');
    expect((await requestVm(service)).status).toBe(503);
    service.hypervisor.failing = undefined;
    expect(await buyVm(service)).toBe(identifier);
    await expectInvariants(service.store);
  });
});

async function start(engine: Engine, count: number): Promise<TestOperator> {
  const vmIdentifiers = { minimum: 10_000, maximum: 10_000 + count - 1 };
  return startOperator({ vmIdentifiers, engine });
}

function requestVm(service: TestOperator, apiKey = service.apiKey) {
  return service.call('createVm', { form: SMALL_VM, apiKey });
}

async function buyVm(service: TestOperator, apiKey = service.apiKey): Promise<number> {
  const { status, body } = await requestVm(service, apiKey);
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

/** The positions of each closed invoice as texts, oldest first. */
async function positionsOf(service: TestOperator, apiKey: string): Promise<string[][]> {
  const all: string[][] = [];
  for (const { id } of (await invoicesOf(service, apiKey)).toReversed()) {
    const { positions } = (await service.call('getInvoice', { path: { invoiceID: id }, apiKey })).body.data;
    const vms: [string, { type: string; start: string; stop: string }[]][] = Object.entries(positions.vms);
    all.push(vms.flatMap(([vm, own]) => own.map(({ type, start: from, stop }) => `${vm} ${type} ${from} ${stop}`)));
  }
  return all;
}
