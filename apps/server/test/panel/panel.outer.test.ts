/** The example panel with every group of operations: on both engines, and on machines of QEMU with zones in PowerDNS. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { InvalidError, ResellerError } from '@reseller/client/extension';
import type { CreateHandleForm, FeedEvent } from '@reseller/client/extension';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import * as area from '../../../../examples/panel/src/client-area.ts';
import * as domains from '../../../../examples/panel/src/domains.ts';
import * as servers from '../../../../examples/panel/src/servers.ts';
import type { Access } from '../../../../examples/panel/src/servers.ts';
import { noPowerDns } from '../../../../packages/adapters/test/powerdns.ts';
import { leftOut as noQemu } from '../../../../packages/adapters/test/qemu.ts';
import { newDatabase, SHARED } from '../database.ts';
import { temporaryDirectory } from '../process.ts';
import { startRealWorld, startWorld } from './world.ts';
import type { World } from './world.ts';

const SIGNED_DOMAIN = 'signed-by-panel.net';
const CONTACT: CreateHandleForm = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../examples/panel/contact.json'), 'utf8'));
const [FIRST_KEY, SECOND_KEY] = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKJYnCjhCwOsLjSbGdh6VfHpe0vJCkhDKLgHpVxkmVv first@panel-customer.net',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM4GNP6jg2tkdkd9JEm3mPm4TKP2l1f6kNZE4ve7s8Nd second@panel-customer.net',
];
const DOMAIN = 'panel-customer.net';
const GB = 1024 ** 3;
/** EUR, of a .net domain in the sandbox. */
const DOMAIN_PRICE = 11;
const RENEWAL_PRICE = 12;

const engines = [
  { name: 'SQLite', settings: async () => ({ RESELLER_DATA_DIR: temporaryDirectory() }) },
  { name: 'PostgreSQL', settings: async () => ({ RESELLER_SECRET: SHARED.RESELLER_SECRET, DATABASE_URL: await newDatabase() }) },
];

describe('a billing panel sells servers and domains', () => {
  test.each(engines)('with every group of operations, on $name', async ({ settings }) => {
    expect(await totalOfEveryGroup(await startWorld(await settings()))).toBeGreaterThan(2 * DOMAIN_PRICE);
  });

  // A condition of the test itself would take the place of its tag.
  describe.skipIf(noQemu !== undefined || noPowerDns !== undefined)('with every group of operations', () => {
    test('on machines of QEMU and with zones in PowerDNS', { tags: 'deep' }, async () => {
      expect(await totalOfEveryGroup(await startRealWorld())).toBeGreaterThan(2 * DOMAIN_PRICE);
    });
  });
});

/** Sells, uses and ends everything. @returns The total of the invoice in EUR. */
async function totalOfEveryGroup(world: World): Promise<number> {
  const { signing_secret } = await world.reseller.account.webhooks.add({ url: world.webhookUrl });
  const access = await createServer(world);
  await registerAndName(world, access);
  await backUpAndRestore(world, access);
  await measure(world, access);
  await useKeys(world, access);
  await useAddresses(world, access);
  await openScreens(world, access);
  await renameAndReinstall(world, access);
  await manageDomain(world);
  await suspendAndTerminate(world, access);
  await compareEvents(world, signing_secret);
  return compareInvoice(world);
}

async function createServer({ panel, reseller, real }: World): Promise<Access> {
  const setup = { ssh_key: FIRST_KEY, user_data: '#!/bin/sh\necho from-user-data > /root/note\n' };
  const access = await servers.createServer(panel, '4711', 'small', setup);
  expect(await servers.createServer(panel, '4711', 'small')).toMatchObject({ vmid: access.vmid, password: undefined });
  const { list } = await reseller.vm.search({ labels: `panel-order=${panel.orders.find('4711').key}` });
  expect(list).toMatchObject([{ vmid: Number(access.vmid), config: { cores: 1, mem: 2048, disk: 20 } }]);
  expect(await servers.serverArea(panel, '4711')).toMatchObject({ vm: { status: 'running', addresses: [access.address] } });
  expect((await reseller.vm.config(access.vmid)).config).toMatchObject({
    ssh_key: { fingerprint: expect.stringMatching(/^SHA256:/) },
    user_data_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  if (real) {
    const facts = await real.facts(access.vmid);
    expect(facts).toMatchObject({ hostname: 'service-4711', cores: 1, disk_bytes: 20 * GB, user: access.username, boots: 1 });
    expect(facts.authorized_key).toBe(FIRST_KEY);
    expect(await real.run(loginOf(access), 'cat /root/note')).toBe('from-user-data');
  }
  return access;
}

/** The login with the password of the purchase, or a newer one. */
function loginOf({ vmid, username, password = '' }: Access, newer = password) {
  return { vmid, username, password: newer };
}

async function registerAndName({ panel, real }: World, { address }: Access): Promise<void> {
  expect(await domains.isAvailable(panel, DOMAIN)).toBe(true);
  expect(await domains.registerDomain(panel, { service: '5001', name: DOMAIN, contact: CONTACT })).toMatchObject({ cancelled: false });
  expect(await domains.isAvailable(panel, DOMAIN)).toBe(false);
  const named = { ip_address: address, domain: `web.${DOMAIN}` };
  // The forward check knows the records of the zone.
  expect(await area.setReverseName(panel, '4711', named.domain, address)).toContainEqual({ ...named, forward_confirmed: false });
  await domains.addRecord(panel, DOMAIN, { type: 'A', sub: 'web', data: address });
  expect(await area.setReverseName(panel, '4711', named.domain, address)).toContainEqual({ ...named, forward_confirmed: true });
  if (real) {
    await expect.poll(() => real.resolve(named.domain, 'A')).toEqual([address]);
    await expect.poll(() => real.resolve(reverseOf(address), 'PTR')).toEqual([named.domain]);
  }
}

function reverseOf(address: string): string {
  return `${address.split('.').toReversed().join('.')}.in-addr.arpa`;
}

async function backUpAndRestore({ panel, reseller, real }: World, access: Access): Promise<void> {
  const login = loginOf(access);
  await real?.run(login, 'echo before > /root/note; sync');
  const backup = await area.backUp(panel, '4711', 'before the upgrade');
  expect(backup).toMatchObject({ status: 'available', disk: 20 });
  await real?.run(login, 'echo after > /root/note; sync');
  await area.backUp(panel, '4711', 'the second slot');
  await expect(area.backUp(panel, '4711', 'no third slot')).rejects.toMatchObject({ status: 409 });

  expect(await servers.changeCost(panel, '4711', 'medium')).toMatchObject({ net: 10.4 });
  await servers.changePackage(panel, '4711', 'medium');
  const isResized = ({ cores, disk_bytes }: { cores: number; disk_bytes: number }) => cores === 2 && disk_bytes === 40 * GB;
  if (real) {
    await real.facts(access.vmid, isResized);
    expect(await real.run(login, 'cat /root/note')).toBe('after');
  }
  await area.restore(panel, '4711', backup.backup_id);
  expect((await reseller.vm.config(access.vmid)).config).toMatchObject({ cores: 2, mem: 4096, disk: 40 });
  if (real) {
    await real.facts(access.vmid, isResized);
    expect(await real.run(login, 'cat /root/note')).toBe('before');
  }
  for (const { backup_id } of await area.backups(panel, '4711')) await reseller.vm.backup.delete(access.vmid, backup_id);
  expect(await reseller.vm.backup.schedule(access.vmid, { interval: 'daily' })).toMatchObject({ next: expect.any(String) });
}

async function measure({ panel, reseller, advance, real }: World, { vmid }: Access): Promise<void> {
  await reseller.vm.monitoring(vmid, { enabled: true, port: 80 });
  await advance(600);
  await expect
    .poll(async () => (await reseller.vm.config(vmid)).monitoring)
    .toMatchObject({ enabled: true, port: 80, status: 'reachable' });
  const used = await area.usage(panel, '4711');
  expect(used.cpu).toBeGreaterThan(0);
  expect(used.memory).toBeGreaterThan(20);
  expect(used.disk).not.toBeNull();
  expect(used.includedTraffic).toBeGreaterThan(0);
  expect((await reseller.vm.usage(vmid)).list.length).toBeGreaterThan(0);
  // The guest has sent its page at least once.
  expect((await reseller.vm.traffic(vmid)).months.at(-1)?.total).toBeGreaterThan(real ? 300 : 0);
}

async function useKeys({ panel, reseller, real }: World, access: Access): Promise<void> {
  const first = await servers.newPassword(panel, '4711');
  const { ssh_key_id } = await reseller.vm.sshKey.add({ ssh_key: SECOND_KEY, displayname: 'second' });
  const { password } = await reseller.vm.resetPassword(access.vmid, { ssh_key_id });
  if (real) {
    expect(await real.run(loginOf(access, first), 'true')).toBeUndefined();
    expect(await real.run(loginOf(access, password), 'cat /root/.ssh/authorized_keys')).toBe(SECOND_KEY);
  }
  await reseller.vm.sshKey.remove(ssh_key_id);
  expect(await reseller.vm.sshKey.list()).toEqual([]);
}

async function useAddresses({ panel, reseller }: World, { vmid, address }: Access): Promise<void> {
  const other = await servers.createServer(panel, '4712', 'small');
  expect(await reseller.ip.available()).toContainEqual(expect.objectContaining({ hostsystem: 'nl_ryzen', price_net: '1.50' }));
  const [, second = ''] = await area.buyAddresses(panel, '4711', 2);
  await area.moveAddress(panel, second, '4712');
  // The machine gets it within seconds.
  await expect.poll(() => area.addresses(panel, '4712')).toEqual([other.address, second]);
  const quote = await reseller.ip.quoteBuy({ vmid, count: 1 });
  const bought = await reseller.ip.buy({ vmid, count: 1, max_price: quote.price.net.toFixed(2) });
  expect(bought.pricings?.monthly).toBe(quote.price.net);
  await area.releaseAddress(panel, '4712', second);
  expect(await area.buyAddresses(panel, '4711', 2)).toEqual([address, bought.list[0]?.ip_address]);
  const protections = await reseller.vm.ddosProtection(vmid);
  expect(protections.map(({ ip_address }) => ip_address)).toEqual(expect.arrayContaining([address, bought.list[0]?.ip_address]));
  expect((await reseller.ip.list()).filter((one) => one.family === 4).map(({ ip_address }) => ip_address)).toHaveLength(3);
  await servers.terminate(panel, '4712');
  expect((await reseller.ip.list()).every((one) => String(one.vmid) === vmid)).toBe(true);
}

async function openScreens({ baseUrl, panel, reseller, real }: World, access: Access): Promise<void> {
  const link = new URL(await area.consoleLink(panel, '4711'));
  expect(link.origin).toBe(new URL(baseUrl).origin);
  expect(link.hash).toMatch(/^#rsw_/);
  expect(await (await fetch(link)).text()).toContain('<html');
  expect(await greetingOf(link)).toBe('RFB 003.008\n');

  const [iso] = await reseller.vm.isoFiles();
  if (iso === undefined) {
    // The hypervisor says so with the name of the operation that it lacks.
    await expect(area.rescue(panel, '4711', 'rescue')).rejects.toMatchObject({ status: 501 });
    return;
  }
  const { password } = await reseller.vm.resetPassword(access.vmid);
  await area.rescue(panel, '4711', iso.name);
  // The kernel of the ISO file has a parameter of its own.
  if (real) expect(await real.run(loginOf(access, password), 'cat /proc/cmdline')).toContain('from-iso');
  expect((await reseller.vm.config(access.vmid)).config.iso).toMatchObject({ name: iso.name });
  await area.endRescue(panel, '4711');
  expect((await reseller.vm.config(access.vmid)).config.iso).toBeNull();
  if (real) expect(await real.run(loginOf(access, password), 'cat /proc/cmdline')).not.toContain('from-iso');
}

/** The first message of the screen, as the page in the browser of the customer gets it. */
async function greetingOf(link: URL): Promise<string> {
  const address = new URL('session', link);
  address.protocol = 'ws';
  const { hash } = link;
  address.hash = '';
  const socket = new WebSocket(address, ['binary', hash.slice(1)], { origin: link.origin });
  const [message]: Buffer[] = await once(socket, 'message');
  socket.close();
  return String(message);
}

async function renameAndReinstall({ panel, reseller, real }: World, { vmid }: Access): Promise<void> {
  await servers.rename(panel, '4711', `shop.${DOMAIN}`);
  expect((await reseller.vm.config(vmid)).config.hostname).toBe(`shop.${DOMAIN}`);
  await reseller.vm.reinstall(vmid);
  expect(await reseller.vm.installation(vmid)).toMatchObject({ status: 'finished' });
  if (real) await real.facts(vmid, ({ hostname }) => hostname === `shop.${DOMAIN}`);
}

async function manageDomain({ panel, reseller, real }: World): Promise<void> {
  const record = await domains.addRecord(panel, DOMAIN, { type: 'TXT', sub: '@', data: '"first"' });
  await domains.editRecord(panel, DOMAIN, record.record_id, '"second"');
  if (real) await expect.poll(() => real.resolve(DOMAIN, 'TXT')).toEqual(['second']);
  await domains.removeRecord(panel, DOMAIN, record.record_id);
  expect(await domains.records(panel, DOMAIN)).toMatchObject([{ type: 'A', name: `web.${DOMAIN}` }]);
  if (real) await expect.poll(() => real.resolve(DOMAIN, 'TXT')).toEqual([]);
  await domains.setNameservers(panel, DOMAIN, { ns1: 'ns1.example.org', ns2: 'ns2.example.org' });
  expect(await domains.domainArea(panel, DOMAIN)).toMatchObject({ nameservers: ['ns1.example.org', 'ns2.example.org'] });
  await domains.setNameservers(panel, DOMAIN, { ns1: 'default', ns2: 'default' });
  const { owner, expires } = await domains.domainArea(panel, DOMAIN);
  const renewed = await domains.renewDomain(panel, DOMAIN, expires.slice(0, 10));
  expect(Date.parse(renewed.expires) - Date.parse(expires)).toBeGreaterThan(364 * 86_400_000);
  await domains.changeContact(panel, DOMAIN, { ...CONTACT, lastname: 'Beispiel' });
  const { handle } = await reseller.domain.info(DOMAIN);
  expect(await reseller.domain.handle.info(handle.ownerC)).toMatchObject({ lastname: 'Beispiel' });
  await domains.changeContact(panel, DOMAIN, CONTACT);
  expect(await domains.domainArea(panel, DOMAIN)).toMatchObject({ owner });
  for (const isLocked of [true, false]) {
    await domains.setLock(panel, DOMAIN, isLocked);
    expect(await domains.domainArea(panel, DOMAIN)).toMatchObject({ locked: isLocked });
  }
  expect(await domains.authCode(panel, DOMAIN)).toMatch(/.{8}/);
  await domains.cancel(panel, DOMAIN);
  expect(await domains.domainArea(panel, DOMAIN)).toMatchObject({ cancelled: true });
  await domains.undelete(panel, DOMAIN);
  expect(await domains.domainArea(panel, DOMAIN)).toMatchObject({ cancelled: false });
  await expect(
    domains.registerDomain(panel, { service: '5002', name: 'moves-to-panel.net', contact: CONTACT, authcode: 'wrong-code-1' }),
  ).rejects.toBeInstanceOf(InvalidError);
  await domains.registerDomain(panel, { service: '5002', name: 'moves-to-panel.net', contact: CONTACT, authcode: 'example-authcode-1' });
  expect((await reseller.domain.list()).toSorted()).toEqual(['moves-to-panel.net', DOMAIN]);

  await domains.registerDomain(panel, { service: '5003', name: SIGNED_DOMAIN, contact: CONTACT });
  await expect.poll(() => reseller.domain.dnssec.enable(SIGNED_DOMAIN)).toMatchObject({ status: 'enabled', managed_by: 'service' });
  expect((await reseller.domain.dnssec.info(SIGNED_DOMAIN)).ds_records).toHaveLength(1);
}

async function suspendAndTerminate({ panel, reseller, real, advance }: World, { vmid, address }: Access): Promise<void> {
  await servers.suspend(panel, '4711');
  expect(await servers.serverArea(panel, '4711')).toMatchObject({ state: 'suspended', vm: { status: 'stopped' } });
  if (real) expect(real.machines()).toEqual({ folders: [`vm-${vmid}`], processes: 0 });
  await advance(3_600);
  await servers.unsuspend(panel, '4711');
  if (real) await real.facts(vmid);
  await advance(3_600);
  await servers.terminate(panel, '4711');
  expect(await reseller.vm.list()).toMatchObject({ total_vms: 0 });
  await expect(reseller.vm.status(vmid)).rejects.toBeInstanceOf(ResellerError);
  if (real) {
    expect(real.machines()).toEqual({ folders: [], processes: 0 });
    await expect.poll(() => real.resolve(reverseOf(address), 'PTR')).toEqual([]);
  }
}

/** The webhook has received the events of the feed, those of each subject in its order. */
async function compareEvents({ reseller, verified }: World, secret: string): Promise<void> {
  const [webhook] = await reseller.account.webhooks.list();
  await reseller.account.webhooks.test(webhook?.webhook_id ?? '');
  const feed = async () => {
    const events: FeedEvent[] = [];
    let cursor: string | undefined;
    for (;;) {
      const page = await reseller.account.events({ limit: 20, ...(cursor !== undefined && { cursor }) });
      events.push(...page.events);
      if (!page.has_more) return events;
      cursor = page.next_cursor;
    }
  };
  const bySubject = (events: readonly { readonly id: string; readonly subject: string }[]) =>
    Object.fromEntries(
      [...Map.groupBy(events, ({ subject }) => subject)].map(([subject, ofSubject]) => [
        subject,
        [...new Set(ofSubject.map(({ id }) => id))],
      ]),
    );
  const isTest = ({ type }: { readonly type: string }) => type === 'webhook.test';
  await expect.poll(async () => (await verified(secret)).some(isTest)).toBe(true);
  const events = await feed();
  await expect
    .poll(async () => bySubject((await verified(secret)).filter((event) => !isTest(event))))
    .toEqual(bySubject(events.filter((event) => !isTest(event))));
  const types = new Set(events.map(({ type }) => type));
  for (const type of [
    'vm.created',
    'vm.changed',
    'vm.stopped',
    'vm.started',
    'vm.deleted',
    'vm.backup.created',
    'domain.registered',
    'domain.changed',
  ])
    expect(types).toContain(type);
  await expect(verified(`${secret.slice(0, -8)}AAAAAAA=`)).rejects.toThrow('No signature of the request fits');
}

/** The totals are the sums of their positions, and the invoice of the period has what the running one had. */
async function compareInvoice({ reseller, advance }: World): Promise<number> {
  const { currentInvoiceTotal, positions, nextInvoiceDate } = await reseller.accounting.currentInvoice();
  const vms = Object.values(positions.vms).flat();
  // The server had three packages and two numbers of addresses, and was stopped once. The other one moved an address.
  expect(vms.length).toBeGreaterThan(5);
  for (const { totalPrice, monthlyPrice, totalRuntime, stop } of vms) {
    expect(stop).not.toBeNull();
    expect(totalPrice).toBeCloseTo((monthlyPrice * totalRuntime) / (30 * 86_400), 2);
  }
  const bought = Object.values(positions.domains ?? {}).flat();
  expect(bought.map(({ type, totalPrice }) => [type, totalPrice]).toSorted()).toEqual([
    ['CREATE', DOMAIN_PRICE],
    ['CREATE', DOMAIN_PRICE],
    ['RENEW', RENEWAL_PRICE],
    ['TRANSFER', DOMAIN_PRICE],
  ]);
  const total = [...vms, ...bought].reduce((sum, { totalPrice }) => sum + totalPrice, 0);
  expect(currentInvoiceTotal).toBeCloseTo(total, 1);
  const before = Object.keys(await reseller.accounting.invoices());
  await advance(Math.ceil((Date.parse(nextInvoiceDate) - Date.now()) / 1_000) + 3_600);
  const issued = Object.entries(await reseller.accounting.invoices()).filter(([id]) => !before.includes(id));
  expect(issued.map(([, invoice]) => invoice)).toMatchObject([{ total: currentInvoiceTotal, status: 'OPEN' }]);
  return currentInvoiceTotal;
}
