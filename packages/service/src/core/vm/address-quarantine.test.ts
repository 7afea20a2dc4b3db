/** A released address rests before another VM gets it, because names of its former owner may still point to it. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { MS_PER_DAY } from '../../rules/day.ts';

const setQuarantine = ({ client }: TestOperator, address_quarantine_days: number) =>
  operator.setVmIdentifierQuarantine({ client, body: { vm_identifier_quarantine_days: 90, address_quarantine_days } });

/** Leaves the first IPv4 addresses in Amsterdam. */
async function startWithFree(engine: (typeof engines)[number], count: number): Promise<TestOperator> {
  const service = await startOperator({ engine });
  await service.store.commit(async ({ db }) => {
    await db.deleteFrom('ip_addresses').where('pool_id', '=', 'ams1-v4').where('position', '>=', count).execute();
  });
  return service;
}

async function buy(service: TestOperator, more: object = {}): Promise<{ readonly vmid: string; readonly ipv4: readonly string[] }> {
  const { identifier } = (await service.call('createVm', { form: { ...SMALL_VM, ...more } })).body.data;
  return { vmid: String(identifier), ipv4: service.hypervisor.vms.get(identifier)?.ipv4 ?? [] };
}

async function remove(service: TestOperator, vmid: string): Promise<void> {
  expect((await service.call('deleteVm', { path: { vmid } })).status).toBe(200);
}

async function freeIn(service: TestOperator): Promise<number> {
  const { list } = (await service.call('listAvailableIps')).body.data;
  return list.find(({ hostsystem }: { hostsystem: string }) => hostsystem === SMALL_VM.hostsystem).available;
}

describe.each(engines)('on %s', (engine) => {
  test('the address of a deleted VM is free after a day, to the millisecond', async () => {
    const service = await startWithFree(engine, 1);
    const { vmid, ipv4 } = await buy(service);
    await remove(service, vmid);
    service.clock.advance(MS_PER_DAY - 1);
    expect(await service.call('createVm', { form: SMALL_VM })).toMatchObject({ status: 409, body: { type: 'out_of_capacity' } });
    expect(await freeIn(service)).toBe(0);
    service.clock.advance(1);
    expect(await freeIn(service)).toBe(1);
    expect((await buy(service)).ipv4).toEqual(ipv4);
  });

  test.each([0, 1, 2])('the provider lets addresses rest for %i days, and a request without it changes nothing', async (days) => {
    const service = await startWithFree(engine, 1);
    expect(await setQuarantine(service, days)).toMatchObject({ address_quarantine_days: days });
    const { client } = service;
    const settings = await operator.setVmIdentifierQuarantine({ client, body: { vm_identifier_quarantine_days: 30 } });
    expect(settings).toMatchObject({ vm_identifier_quarantine_days: 30, address_quarantine_days: days });
    const { vmid } = await buy(service);
    await remove(service, vmid);
    expect(await freeIn(service)).toBe(days === 0 ? 1 : 0);
    service.clock.advance(days * MS_PER_DAY);
    expect(await freeIn(service)).toBe(1);
  });

  test('the address that has been free for the longest time is given first', async () => {
    const service = await startWithFree(engine, 4);
    const [one, two, three] = [await buy(service), await buy(service), await buy(service)];
    for (const { vmid } of [two, three, one]) {
      await remove(service, vmid);
      service.clock.advance(1_000);
    }
    service.clock.advance(MS_PER_DAY);
    const { ipv4 } = await buy(service);
    expect([one, two, three].flatMap((vm) => vm.ipv4)).not.toContain(ipv4[0]);
    expect((await buy(service, { ips: 2 })).ipv4.toSorted()).toEqual([...two.ipv4, ...three.ipv4].toSorted());
    expect((await buy(service)).ipv4).toEqual(one.ipv4);
  });

  test('an address that a VM gives back by a smaller number or by name rests, and the VM cannot buy it again meanwhile', async () => {
    const service = await startWithFree(engine, 3);
    const { vmid, ipv4 } = await buy(service, { ips: 3 });
    expect((await service.call('changeVm', { path: { vmid }, form: { ips: 2 } })).status).toBe(200);
    const address = ipv4[1] ?? '';
    expect((await service.call('releaseIp', { path: { ip_address: address } })).status).toBe(200);
    expect(await service.call('buyIps', { form: { vmid, count: 1 } })).toMatchObject({ status: 409 });
    expect(await freeIn(service)).toBe(0);
  });

  test('the address of a purchase that failed does not rest, because no customer had it', async () => {
    const service = await startWithFree(engine, 1);
    service.hypervisor.failing = new Error('The hypervisor is out of order.');
    expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(503);
    service.hypervisor.failing = undefined;
    expect(await freeIn(service)).toBe(1);
  });
});
