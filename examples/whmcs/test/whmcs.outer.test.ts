/** The modules in processes of PHP, as WHMCS calls them, against the real service and through connections that break. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';

import { createReseller } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import type { TestService } from '@reseller/testing';
import { createServiceInside } from '@reseller/testing/inside';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { startProxy } from '../../../packages/testing/test/client/proxy.ts';
import type { Fate, Proxy } from '../../../packages/testing/test/client/proxy.ts';

const noPhp =
  spawnSync('php', ['-r', 'exit(extension_loaded("curl") ? 0 : 1);']).status === 0 ? undefined : 'php with curl is not installed';

const LOSSES: readonly Fate[] = [{ kind: 'reset', when: 'before' }, { kind: 'reset', when: 'after' }, { kind: 'cut' }];

const CLIENT = {
  firstname: 'Erika',
  lastname: 'Muster',
  address1: 'Lange Straße 12a',
  address2: '',
  postcode: '60311',
  city: 'Frankfurt',
  fullstate: 'Hessen',
  state: 'HE',
  countrycode: 'DE',
  email: 'erika@example.org',
  fullphonenumber: '+49.69123456',
};

const PURCHASES = /^\/(?:vm\/create|domain\/register|domain\/[^/]+\/renew)$/;
const BYTES_PER_MB = 1024 ** 2;
const OTHER_VM = { cores: 1, mem: 2048, disk: 20, os: 'debian_12', hostsystem: 'nl_ryzen' };

interface Whmcs {
  readonly service: TestService;
  readonly proxy: Proxy;
  /** The provider's client, which does not use the proxy. */
  readonly reseller: Reseller;
  /** Decides how the registry carries out registrations and transfers: by default at once. */
  readonly registry: Registry;
  /** Calls a function of the server module in a process of its own. */
  vm(name: string, params?: object): Promise<unknown>;
  /** Calls a function of the registrar module in a process of its own. */
  domain(name: string, params?: object): Promise<unknown>;
  /** Starts a function of the server module, and returns its process. */
  start(name: string): ReturnType<typeof spawn>;
  /** The values that the modules have stored in WHMCS. */
  stored(): Record<string, string>;
  /** Removes the values that the modules have stored in WHMCS, as another installation has none. */
  forget(): void;
  /** Stores further values in WHMCS. */
  store(values: Readonly<Record<string, string>>): void;
}

interface Registry {
  end: 'at-once' | 'running' | 'succeeded' | 'failed';
}

async function startWhmcs(): Promise<Whmcs> {
  const registry: Registry = { end: 'at-once' };
  // The month of the service is that of the modules.
  const service = await createServiceInside({
    now: `${new Date().toISOString().slice(0, 7)}-01T00:00:00Z`,
    registrar: (simulated) => ({
      ...simulated,
      register: async (order, token) => {
        const end = await simulated.register(order, token);
        return registry.end === 'at-once' || end !== 'registered' ? end : { task: order.name };
      },
      transfer: async (order, authcode, token) => {
        const end = await simulated.transfer(order, authcode, token);
        return registry.end === 'at-once' || end !== 'transferred' ? end : { task: order.name };
      },
      task: async () => {
        if (registry.end === 'failed') return { status: 'failed', reason: 'the losing registrar objected' };
        return registry.end === 'running' ? { status: 'running', percentage: null } : { status: 'succeeded' };
      },
    }),
  });
  onTestFinished(() => service.close());
  const baseUrl = await service.listen();
  const proxy = await startProxy(baseUrl, { isPurchase: ({ url = '' }) => PURCHASES.test(url) });
  onTestFinished(() => proxy.close());
  const folder = mkdtempSync(join(tmpdir(), 'whmcs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'state.json');
  const { hostname, port } = new URL(proxy.baseUrl);
  const server = {
    serverhttpprefix: 'http',
    serverhostname: hostname,
    serverport: port,
    serveraccesshash: service.apiKey,
    serverusername: 'shop',
  };
  const options = ['nl_ryzen', 'debian_12', '1', '2048', '20', '1', '2', ''];
  const configoptions = Object.fromEntries(options.map((value, index) => [`configoption${index + 1}`, value]));
  const vmParams = { serviceid: 4711, domain: 'web1.example.org', ...server, ...configoptions };
  const domainParams = {
    BaseUrl: proxy.baseUrl,
    ApiKey: service.apiKey,
    Installation: 'shop',
    Gender: 'FEMALE',
    domainid: 12,
    sld: 'whmcs-project',
    tld: 'net',
    ...CLIENT,
  };
  function start(kind: string, name: string, params: object) {
    const child = spawn(
      'php',
      ['-d', 'error_reporting=-1', '-d', 'display_errors=stderr', join(import.meta.dirname, 'whmcs.php'), kind, name],
      {
        env: { ...process.env, WHMCS_STATE: file },
      },
    );
    child.stdin.end(JSON.stringify(params));
    return child;
  }
  async function call(kind: string, name: string, params: object) {
    const { stdout, stderr } = start(kind, name, params);
    const [returned, warnings] = await Promise.all([json(stdout), text(stderr)]);
    expect(warnings).toBe('');
    return returned;
  }
  return {
    service,
    proxy,
    registry,
    reseller: createReseller({ baseUrl, apiKey: service.apiKey }),
    vm: (name, params) => call('servers', name, { ...vmParams, ...params }),
    domain: (name, params) => call('registrars', name, { ...domainParams, ...params }),
    start: (name) => start('servers', name, vmParams),
    stored: () => JSON.parse(readFileSync(file, 'utf8')),
    forget: () => writeFileSync(file, '{}'),
    store: (values) => writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...values })),
  };
}

describe('the modules for WHMCS', () => {
  let whmcs: Whmcs;
  beforeEach(async ({ skip }) => {
    if (noPhp !== undefined) skip(noPhp);
    whmcs = await startWhmcs();
  });
  const vms = async () => (await whmcs.reseller.vm.list()).list;

  test('sell a VM, suspend it, change its package and terminate it', async () => {
    expect(await whmcs.vm('TestConnection')).toEqual({ success: true, error: '' });
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    const [vm] = await vms();
    expect(vm).toMatchObject({
      hostname: 'web1.example.org',
      labels: { 'whmcs-service': 'shop-4711', 'whmcs-order': '1' },
      config: { cores: 1, mem: 2048, disk: 20 },
    });
    const { config } = await whmcs.reseller.vm.config(vm?.vmid ?? 0);
    const { servicepassword = '' } = whmcs.stored();
    expect(whmcs.stored()).toMatchObject({
      serviceusername: 'root',
      dedicatedip: config.ipv4[0]?.ip_address,
      servicepassword: expect.stringMatching(/.{8}/),
    });

    expect(await whmcs.vm('SuspendAccount')).toBe('success');
    expect(await whmcs.vm('SuspendAccount')).toBe('success');
    expect(await whmcs.vm('ClientArea')).toMatchObject({
      vars: { status: 'stopped', address: config.ipv4[0]?.ip_address, cores: 1, error: '' },
    });
    expect(await whmcs.vm('UnsuspendAccount')).toBe('success');
    expect(await whmcs.vm('restart')).toBe('success');
    expect(await whmcs.vm('ClientArea')).toMatchObject({ vars: { status: 'running' } });

    expect(await whmcs.vm('ChangePackage', { configoption3: '2', configoptions: { mem: '4096' } })).toBe('success');
    expect((await vms())[0]).toMatchObject({ vmid: vm?.vmid, config: { cores: 2, mem: 4096, disk: 20 } });
    // The second change back is carried out like the first.
    for (const cores of [1, 2, 1]) {
      expect(await whmcs.vm('ChangePackage', { configoption3: String(cores) })).toBe('success');
      expect((await vms())[0]?.config.cores).toBe(cores);
    }
    expect(await whmcs.vm('resetPassword')).toBe('success');
    const reset = whmcs.stored()['servicepassword'];
    expect(reset).not.toBe(servicepassword);
    // The module log has a line for each request, and no secret.
    expect(whmcs.stored()['log']).toContain('PUT \\/vm\\/create');
    for (const secret of [servicepassword, reset, whmcs.service.apiKey]) expect(whmcs.stored()['log']).not.toContain(secret);

    expect(await whmcs.vm('TerminateAccount')).toBe('success');
    expect(await whmcs.vm('TerminateAccount')).toBe('success');
    expect(await vms()).toEqual([]);
    expect(await whmcs.vm('SuspendAccount')).toBe('The service shop-4711 has no VM. Create it first.');
    // A customer who comes back gets a new VM.
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    expect(await vms()).toHaveLength(1);
  });

  test.each([
    ['host system', { configoption1: 'nl_epyc' }, 'nl_ryzen', 'nl_epyc'],
    ['operating system', { configoptions: { os: 'ubuntu_24_04', cores: '2' } }, 'debian_12', 'ubuntu_24_04'],
  ])('refuse a package with another %s, and change nothing', async (what, params, present, wanted) => {
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    expect(await whmcs.vm('ChangePackage', params)).toBe(
      `The package has the ${what} "${wanted}", but the VM has "${present}", and a change of the package cannot replace it. Nothing was changed. Choose a package with "${present}", or order a new service.`,
    );
    expect((await vms())[0]?.config).toMatchObject({ cores: 1 });
  });

  test.each([
    ['forwards', LOSSES],
    ['backwards', LOSSES.toReversed()],
  ])('buy one VM for eight concurrent clicks through connections that break, %s', async (_, losses) => {
    whmcs.proxy.plan(...losses, ...losses);
    const clicks = await Promise.all(Array.from({ length: 8 }, () => whmcs.vm('CreateAccount')));
    expect(clicks).toContain('success');
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    expect(await vms()).toHaveLength(1);
  });

  test('buy one VM if each click is killed while the service carries out the purchase', async () => {
    for (const when of ['after', 'before', 'after'] as const) {
      whmcs.proxy.plan({ kind: 'hang', when });
      const sent = whmcs.proxy.count('/vm/create');
      const click = whmcs.start('CreateAccount');
      const ended = new Promise((resolve) => click.once('exit', resolve));
      // The first click has bought the VM, so the others may find it.
      await vi.waitUntil(() => whmcs.proxy.count('/vm/create') > sent || click.exitCode !== null, { timeout: 300_000 });
      click.kill('SIGKILL');
      await ended;
      whmcs.proxy.plan();
    }
    await expect.poll(vms).toHaveLength(1);
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    expect(await vms()).toHaveLength(1);
  });

  test('find the VM of an order whose key the service has forgotten', async () => {
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    await whmcs.service.advance(25 * 3_600_000);
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    expect(await vms()).toHaveLength(1);
  });

  test('leave no VM if a service is terminated while its VM is being created', async () => {
    // After the lost response, the click waits for a second before it asks again.
    whmcs.proxy.plan({ kind: 'reset', when: 'after' });
    const click = whmcs.start('CreateAccount');
    const { stdout } = click;
    if (!stdout) throw new Error('The click has no output.');
    await expect.poll(vms, { interval: 20 }).toHaveLength(1);
    click.kill('SIGSTOP');
    expect(await whmcs.vm('TerminateAccount')).toBe('success');
    click.kill('SIGCONT');
    expect(await json(stdout)).toBe('The service was terminated while its VM was being created. The VM was deleted.');
    expect(await vms()).toEqual([]);
  });

  test('tell WHMCS the disk and the traffic of its VMs and their limits, in MB', async () => {
    const { service, reseller } = whmcs;
    expect(await whmcs.vm('CreateAccount')).toBe('success');
    // Another WHMCS uses the same account.
    await reseller.vm.create({ ...OTHER_VM, labels: 'whmcs-service=store-4711,whmcs-order=1' });
    await service.advance(3_600_000);
    const { vmid = 0 } = (await vms()).find(({ labels }) => labels?.['whmcs-service'] === 'shop-4711') ?? {};
    const [status, traffic] = await Promise.all([reseller.vm.status(vmid), reseller.vm.traffic(vmid)]);
    const diskUsage = Math.round((status.usage?.nvme_storage.data ?? 0) * 1024);
    const trafficUsage = Math.floor((traffic.months.at(-1)?.total ?? 0) / BYTES_PER_MB);
    expect(diskUsage).toBeGreaterThan(0);
    expect(trafficUsage).toBeGreaterThan(0);
    expect(traffic.included).toBeGreaterThan(BYTES_PER_MB);

    // A WHMCS with many VMs meets the rate limit of its key.
    await service.operate('POST', '/sandbox/faults', {
      operations: ['getVmTraffic'],
      effect: { kind: 'rate_limit', retry_after_seconds: 2 },
    });
    expect(await whmcs.vm('UsageUpdate', { serverid: 3, serviceid: undefined })).toBe(null);
    const { 'tblhosting server=3 id=4711': stored, ...rest } = whmcs.stored();
    expect(stored).toEqual({
      diskusage: diskUsage,
      disklimit: 20 * 1024,
      bwusage: trafficUsage,
      bwlimit: Math.floor((traffic.included ?? 0) / BYTES_PER_MB),
      lastupdate: 'now()',
    });
    expect(Object.keys(rest).filter((name) => name.startsWith('tblhosting'))).toEqual([]);

    // WHMCS knows no limit as 0, and keeps the disk that it last saw of a stopped VM.
    const shown: { nodes: Record<string, unknown>[] } = Object(await service.operate('GET', '/host-systems/nl_ryzen'));
    const nodes = shown.nodes.map(({ name, cores, mem, disk, storage }) => ({ name, cores, mem, disk, storage }));
    const { name: _, ...host }: { name?: string } = Object({ ...shown, nodes });
    await service.operate('PUT', '/host-systems/nl_ryzen', { ...host, included_traffic: null });
    expect(await whmcs.vm('SuspendAccount')).toBe('success');
    await whmcs.vm('UsageUpdate', { serverid: 3, serviceid: undefined });
    expect(whmcs.stored()['tblhosting server=3 id=4711']).toEqual({
      disklimit: 20 * 1024,
      bwusage: expect.any(Number),
      bwlimit: 0,
      lastupdate: 'now()',
    });
  });

  test('import the prices of TLDs', async () => {
    const prices = await whmcs.reseller.domain.pricings();
    const { create, renew, transfer } = prices['de']?.price_net ?? expect.fail('The service sells no .de domains.');
    const imported = await whmcs.domain('GetTldPricing', { sld: undefined, tld: undefined });
    expect(imported).toHaveLength(Object.keys(prices).length);
    expect(imported).toContainEqual({
      Extension: '.de',
      MinYears: 1,
      MaxYears: 1,
      RegisterPrice: create,
      RenewPrice: renew,
      TransferPrice: transfer,
      Currency: 'EUR',
      EppRequired: true,
    });
    expect(await whmcs.domain('GetTldPricing', { ApiKey: 'wrong' })).toEqual({ error: expect.stringContaining('key') });
  });

  test('say what was wrong, what was expected and what to do', async () => {
    expect(await whmcs.vm('TestConnection', { serverusername: 'my shop' })).toEqual({
      success: false,
      error: '"my shop" is not a name for this WHMCS. Enter up to 20 letters, digits and hyphens, such as shop, and keep it.',
    });
    expect(await whmcs.vm('TestConnection', { serveraccesshash: 'wrong' })).toMatchObject({
      success: false,
      error: expect.stringContaining('key'),
    });
    expect(await whmcs.vm('CreateAccount', { configoption1: 'mars' })).toContain('hostsystem');
    expect(await whmcs.vm('CreateAccount', { configoption8: '0.01' })).toContain('max_price');
    // The client has paid for it.
    expect(await whmcs.vm('CreateAccount', { configoptions: { mem: '4096', 'Additional cores': '2' } })).toBe(
      'The configurable option "Additional cores" is none of hostsystem, os, cores, mem, disk, ips, backup_slots, max_price, so the VM would not have it. Nothing was changed. Give it one of these names, or remove it from the product.',
    );
    expect(await vms()).toEqual([]);
    expect(await whmcs.domain('RegisterDomain', { address1: 'Lange Straße' })).toEqual({
      error: 'The address "Lange Straße" has no house number, which the API requires. Enter one in the profile of the client.',
    });
  });

  test('register a domain once for eight concurrent clicks through connections that break, and manage it', async () => {
    expect(
      await whmcs.domain('CheckAvailability', { sld: undefined, searchTerm: 'whmcs-project', tldsToInclude: ['.net', '.unsold'] }),
    ).toMatchObject([
      { tld: '.net', status: 'not registered' },
      { tld: '.unsold', status: 'not supported' },
    ]);
    whmcs.proxy.plan(...LOSSES, ...LOSSES);
    const clicks = await Promise.all(Array.from({ length: 8 }, () => whmcs.domain('RegisterDomain', { ns1: '', ns2: '' })));
    expect(clicks).toContainEqual({ success: true });
    expect(await whmcs.domain('RegisterDomain')).toEqual({ success: true });
    const { positions } = await whmcs.reseller.accounting.currentInvoice();
    expect(positions.domains?.['whmcs-project.net']).toHaveLength(1);
    const { handle } = await whmcs.reseller.domain.info('whmcs-project.net');
    expect(await whmcs.reseller.domain.handle.info(handle.ownerC)).toMatchObject({
      firstname: 'Erika',
      street: 'Lange Straße',
      number: '12a',
      region: 'Hessen',
    });
    expect(await whmcs.domain('Sync')).toMatchObject({
      expirydate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      active: true,
      transferredAway: false,
    });
    expect(await whmcs.domain('CheckAvailability', { sld: undefined, searchTerm: 'whmcs-project', tldsToInclude: ['net'] })).toMatchObject([
      { status: 'registered' },
    ]);

    const nameservers = { ns1: 'ns1.example.org', ns2: 'ns2.example.org' };
    expect(await whmcs.domain('SaveNameservers', { ...nameservers, ns3: '', ns4: '', ns5: '' })).toEqual({ success: true });
    expect(await whmcs.domain('GetNameservers')).toMatchObject(nameservers);
    expect(await whmcs.domain('GetRegistrarLock')).toBe('unlocked');
    for (const lock of ['locked', 'locked', 'unlocked']) {
      expect(await whmcs.domain('SaveRegistrarLock', { lockenabled: lock })).toEqual({ success: true });
      expect(await whmcs.domain('GetRegistrarLock')).toBe(lock);
    }
    expect(await whmcs.domain('GetRegistrarLock', { sld: 'not-ours' })).toEqual({ error: expect.stringContaining('domain') });
    expect(await whmcs.domain('GetEPPCode')).toEqual({ eppcode: expect.stringMatching(/./) });
  });

  test('show the contact of a domain, and change it', async () => {
    expect(await whmcs.domain('RegisterDomain')).toEqual({ success: true });
    const shown = { 'First Name': 'Erika', 'Address 1': 'Lange Straße 12a', State: 'Hessen', 'Phone Number': '+49.69123456' };
    const details = await whmcs.domain('GetContactDetails');
    expect(details).toMatchObject({ Registrant: shown });
    const { Registrant: registrant }: { Registrant?: object } = Object(details);
    const changed = { Registrant: { ...registrant, 'Last Name': 'Beispiel', 'Address 1': '7 Short Street' } };
    for (let click = 0; click < 2; click++)
      expect(await whmcs.domain('SaveContactDetails', { contactdetails: changed })).toEqual({ success: true });
    const { handle } = await whmcs.reseller.domain.info('whmcs-project.net');
    expect(new Set([handle.adminC, handle.techC, handle.zoneC])).toEqual(new Set([handle.ownerC]));
    expect(await whmcs.reseller.domain.handle.info(handle.ownerC)).toMatchObject({
      gender: 'FEMALE',
      lastname: 'Beispiel',
      street: 'Short Street',
      number: '7',
    });
    expect((await whmcs.reseller.domain.handle.list()).filter(({ lastname }) => lastname === 'Beispiel')).toHaveLength(1);
    const withoutNumber = { Registrant: { ...registrant, 'Address 1': 'Short Street' } };
    expect(await whmcs.domain('SaveContactDetails', { contactdetails: withoutNumber })).toEqual({
      error: expect.stringContaining('house number'),
    });
  });

  test('add, change and remove DNS records', async () => {
    expect(await whmcs.domain('RegisterDomain')).toEqual({ success: true });
    const added = [
      { hostname: '@', type: 'MX', address: 'mail.example.org', priority: '10', recid: '' },
      { hostname: 'www', type: 'A', address: '198.51.100.7', priority: '', recid: '' },
      { hostname: '', type: 'A', address: '', priority: '', recid: '' },
    ];
    expect(await whmcs.domain('SaveDNS', { dnsrecords: added })).toEqual({ success: true });
    const shown = await shownRecords();
    expect(shown).toMatchObject([
      { type: 'A', hostname: 'www', address: '198.51.100.7' },
      { type: 'MX', hostname: '@', address: 'mail.example.org', priority: '10' },
    ]);
    const changed = shown.map((record) => (record['type'] === 'A' ? { ...record, address: '198.51.100.8' } : { ...record, address: '' }));
    expect(await whmcs.domain('SaveDNS', { dnsrecords: changed })).toEqual({ success: true });
    expect(await shownRecords()).toMatchObject([{ type: 'A', hostname: 'www', address: '198.51.100.8' }]);
  });

  test('renew a domain once for each period that is paid, also a cancelled one', async () => {
    expect(await whmcs.domain('RegisterDomain')).toEqual({ success: true });
    const expiry = async () => (await whmcs.reseller.domain.info('whmcs-project.net')).timings.expire.slice(0, 10);
    const first = await expiry();
    const after = (years: number) => String(Number(first.slice(0, 4)) + years) + first.slice(4);
    const renew = () => whmcs.domain('RenewDomain', { regperiod: 1 });
    expect(await renew()).toEqual({ error: expect.stringContaining('WHMCS does not know when the domain expires.') });

    whmcs.store({ 'expiry of 12': first });
    whmcs.proxy.plan(...LOSSES);
    expect(await Promise.all(Array.from({ length: 8 }, renew))).toContainEqual({ success: true });
    expect(await renew()).toEqual({ success: true });
    expect(await expiry()).toBe(after(1));

    for (let click = 0; click < 2; click++) expect(await whmcs.domain('RequestDelete')).toEqual({ success: true });
    expect((await whmcs.reseller.domain.info('whmcs-project.net')).domain.terminated).toBe(true);
    whmcs.store({ 'expiry of 12': after(1) });
    expect(await whmcs.domain('RenewDomain', { regperiod: 2 })).toEqual({ success: true });
    expect((await whmcs.reseller.domain.info('whmcs-project.net')).domain.terminated).toBe(false);
    expect(await expiry()).toBe(after(3));
    const { positions } = await whmcs.reseller.accounting.currentInvoice();
    expect(positions.domains?.['whmcs-project.net']?.map(({ type }) => type)).toEqual(['CREATE', 'RENEW', 'RENEW', 'RENEW']);
  });

  describe('an order of a domain', () => {
    const FIRST = { domainid: 100, sld: 'victim', firstname: 'Erika' };
    const SECOND = { domainid: 200, sld: 'victim', firstname: 'Mallory' };
    const NOT_BOUGHT = { error: expect.stringContaining('but this order did not buy it') };

    test('gets no domain that another order has bought, neither by a registration nor by a transfer', async () => {
      expect(await whmcs.domain('RegisterDomain', FIRST)).toEqual({ success: true });
      // Also after the service has forgotten the key, only the first order finds its domain.
      for (const hours of [0, 25]) {
        await whmcs.service.advance(hours * 3_600_000);
        expect(await whmcs.domain('TransferDomain', { ...SECOND, eppcode: 'not-the-code' })).toEqual(NOT_BOUGHT);
        expect(await whmcs.domain('RegisterDomain', SECOND)).toEqual(NOT_BOUGHT);
        expect(await whmcs.domain('TransferSync', SECOND)).toEqual(NOT_BOUGHT);
        expect(await whmcs.domain('RegisterDomain', FIRST)).toEqual({ success: true });
      }
      const other = { error: 'The domain belongs to another order of this WHMCS, with the number 100.' };
      for (const name of ['GetEPPCode', 'GetContactDetails', 'GetRegistrarLock', 'RequestDelete', 'Sync', 'GetDNS'])
        expect(await whmcs.domain(name, SECOND)).toEqual(other);
      expect(await whmcs.domain('SaveNameservers', { ...SECOND, ns1: 'ns1.mallory.example' })).toEqual(other);
      const { positions } = await whmcs.reseller.accounting.currentInvoice();
      expect(positions.domains?.['victim.net']).toHaveLength(1);
    });

    test('finds its domain again after the contact was changed', async () => {
      expect(await whmcs.domain('RegisterDomain', FIRST)).toEqual({ success: true });
      const { Registrant: registrant }: { Registrant?: object } = Object(await whmcs.domain('GetContactDetails', FIRST));
      const contactdetails = { Registrant: { ...registrant, 'Last Name': 'Beispiel' } };
      expect(await whmcs.domain('SaveContactDetails', { ...FIRST, contactdetails })).toEqual({ success: true });
      await whmcs.service.advance(25 * 3_600_000);
      expect(await whmcs.domain('RegisterDomain', { ...FIRST, lastname: 'Beispiel' })).toEqual({ success: true });
      expect(await whmcs.domain('RegisterDomain', SECOND)).toEqual(NOT_BOUGHT);
    });

    test('of a second WHMCS with the same account and the same number of the order gets no domain of the first', async () => {
      expect(await whmcs.domain('RegisterDomain', { ...FIRST, Installation: 'shop' })).toEqual({ success: true });
      await whmcs.service.advance(25 * 3_600_000);
      whmcs.forget();
      expect(await whmcs.domain('RegisterDomain', { ...FIRST, Installation: 'store' })).toEqual(NOT_BOUGHT);
      expect(await whmcs.domain('TransferDomain', { ...FIRST, Installation: 'store', eppcode: 'any' })).toEqual(NOT_BOUGHT);
      const unknown = { error: expect.stringContaining('No order of this WHMCS bought the domain.') };
      for (const name of ['GetEPPCode', 'SaveNameservers', 'RequestDelete', 'Sync'])
        expect(await whmcs.domain(name, { ...FIRST, Installation: 'store' })).toEqual(unknown);
      // The domains of a WHMCS whose data was imported are managed after a setting says so.
      expect(await whmcs.domain('GetEPPCode', { ...FIRST, Installation: 'store', ImportedDomains: 'on' })).toEqual({
        eppcode: expect.stringMatching(/./),
      });
    });

    test('of more than one year buys nothing', async () => {
      for (const [name, more] of [
        ['RegisterDomain', {}],
        ['TransferDomain', { domainid: 101, sld: 'taken-victim', eppcode: 'example-authcode-1' }],
      ] as const) {
        expect(await whmcs.domain(name, { ...FIRST, ...more, regperiod: 2 })).toEqual({
          error: expect.stringMatching(/one year, and this order is for 2\. Nothing was bought\./),
        });
        expect(await whmcs.domain(name, { ...FIRST, ...more, regperiod: 1 })).toEqual({ success: true });
      }
      expect(await whmcs.reseller.domain.list()).toHaveLength(2);
    });

    test('of a company is refused, unless the settings give its domains to the contact person', async () => {
      const company = { ...FIRST, companyname: 'Muster & Söhne GmbH' };
      expect(await whmcs.domain('RegisterDomain', company)).toEqual({
        error: expect.stringContaining('The API has no field for the company "Muster & Söhne GmbH"'),
      });
      expect(await whmcs.reseller.domain.list()).toEqual([]);
      expect(await whmcs.domain('RegisterDomain', { ...company, PersonOfCompany: 'on' })).toEqual({ success: true });
    });

    test.each([
      { addon: 'idprotection', name: 'ID protection' },
      { addon: 'emailforwarding', name: 'email forwarding' },
    ])('with $name, which the API does not have, buys nothing', async ({ addon, name }) => {
      const refused = { error: expect.stringContaining(`has ${name}, which the API does not have. Nothing was bought.`) };
      expect(await whmcs.domain('RegisterDomain', { ...FIRST, [addon]: true })).toEqual(refused);
      expect(await whmcs.domain('TransferDomain', { ...FIRST, sld: 'taken-victim', eppcode: 'example-authcode-1', [addon]: true })).toEqual(
        refused,
      );
      expect(await whmcs.reseller.domain.list()).toEqual([]);
      expect(await whmcs.domain('RegisterDomain', { ...FIRST, [addon]: false, dnsmanagement: true })).toEqual({ success: true });
    });

    test('of a client without a phone is carried out', async () => {
      expect(await whmcs.domain('RegisterDomain', { ...FIRST, fullphonenumber: '' })).toEqual({ success: true });
    });
  });

  describe('a domain that the registry takes its time for', () => {
    const ORDER = { domainid: 37, sld: 'taken-project', eppcode: 'example-authcode-1' };
    const end = async (how: Registry['end']) => {
      whmcs.registry.end = how;
      await whmcs.service.advance(3_600_000);
    };

    test('is neither completed nor active before the transfer ends', async () => {
      whmcs.registry.end = 'running';
      expect(await whmcs.domain('TransferDomain', ORDER)).toEqual({ success: true });
      expect(await whmcs.domain('TransferSync', ORDER)).toEqual({ completed: false });
      expect(await whmcs.domain('Sync', ORDER)).toMatchObject({ active: false, transferredAway: false });
      await end('succeeded');
      await expect
        .poll(() => whmcs.domain('TransferSync', ORDER))
        .toEqual({ completed: true, expirydate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
      expect(await whmcs.domain('Sync', ORDER)).toMatchObject({ active: true });
    });

    test('is failed, with the reason, after the transfer failed, and can be ordered again', async () => {
      whmcs.registry.end = 'running';
      expect(await whmcs.domain('TransferDomain', ORDER)).toEqual({ success: true });
      await end('failed');
      await expect
        .poll(() => whmcs.domain('TransferSync', ORDER))
        .toEqual({
          completed: false,
          failed: true,
          reason: expect.stringContaining('The registry did not carry out the transfer.'),
        });
      expect(await whmcs.domain('Sync', ORDER)).toEqual({ error: expect.stringContaining('did not register or transfer') });
      await end('at-once');
      expect(await whmcs.domain('TransferDomain', ORDER)).toEqual({ success: true });
      expect(await whmcs.domain('TransferSync', ORDER)).toMatchObject({ completed: true });
    });

    test('is not active before its registration ends, and can be ordered again after it failed', async () => {
      const order = { domainid: 39, sld: 'pending-project' };
      whmcs.registry.end = 'running';
      for (let click = 0; click < 2; click++) expect(await whmcs.domain('RegisterDomain', order)).toEqual({ success: true });
      expect(await whmcs.domain('Sync', order)).toMatchObject({ active: false, transferredAway: false });
      await end('failed');
      await expect
        .poll(() => whmcs.domain('Sync', order))
        .toEqual({ error: expect.stringContaining('did not register or transfer the domain, and the order was not charged') });
      await end('at-once');
      expect(await whmcs.domain('RegisterDomain', order)).toEqual({ success: true });
      expect(await whmcs.domain('Sync', order)).toMatchObject({ active: true });
      const { positions } = await whmcs.reseller.accounting.currentInvoice();
      expect(positions.domains?.['pending-project.net']).toHaveLength(1);
    });

    test('has no transfer to synchronise if none was begun, or the service refused its auth code', async () => {
      const none = { error: expect.stringContaining('No transfer of this order is in progress.') };
      expect(await whmcs.domain('TransferSync', ORDER)).toEqual(none);
      expect(await whmcs.domain('TransferDomain', { ...ORDER, eppcode: 'wrong' })).toEqual({ error: expect.stringContaining('authcode') });
      expect(await whmcs.domain('TransferSync', ORDER)).toEqual(none);
      expect(await whmcs.domain('TransferDomain', ORDER)).toEqual({ success: true });
      expect(await whmcs.domain('TransferSync', ORDER)).toMatchObject({ completed: true });
    });
  });

  test('tell WHMCS whether a domain that is gone has left or expired', async () => {
    const order = { domainid: 50, sld: 'leaving' };
    const gone = { active: false, transferredAway: true };
    expect(await whmcs.domain('RegisterDomain', order)).toEqual({ success: true });
    const { eppcode = '' }: { eppcode?: string } = Object(await whmcs.domain('GetEPPCode', order));
    const { apiKey } = await whmcs.service.addAccount();
    const other = createReseller({ baseUrl: new URL(whmcs.proxy.baseUrl).origin, apiKey });
    const { handle } = await other.domain.handle.create({
      gender: 'FEMALE',
      firstname: 'Mara',
      lastname: 'Beispiel',
      street: 'Musterweg',
      number: '7',
      zipcode: '60311',
      city: 'Frankfurt',
      region: 'Hessen',
      countrycode: 'DE',
      email: 'mara@example.org',
    });
    await other.domain.register({ domain: 'leaving.net', handle, authcode: eppcode });
    await expect.poll(() => whmcs.domain('Sync', order)).toEqual(gone);

    // A domain that is cancelled ends at its term.
    const cancelled = { domainid: 51, sld: 'cancelled' };
    expect(await whmcs.domain('RegisterDomain', cancelled)).toEqual({ success: true });
    expect(await whmcs.domain('RequestDelete', cancelled)).toEqual({ success: true });
    await whmcs.service.advance(370 * 86_400_000);
    await expect.poll(() => whmcs.domain('Sync', cancelled)).toEqual({ active: false, expired: true });
  });

  test('take an address and a key that were pasted with a line end, and name one that cannot be a key', async () => {
    const { apiKey } = whmcs.service;
    expect(
      await whmcs.domain('CheckAvailability', {
        ApiKey: `${apiKey}\n`,
        BaseUrl: ` ${whmcs.proxy.baseUrl}/\n`,
        searchTerm: 'a',
        tldsToInclude: ['net'],
      }),
    ).toMatchObject([{ status: 'not registered' }]);
    expect(await whmcs.vm('TestConnection', { serveraccesshash: `${apiKey}\r\n` })).toEqual({ success: true, error: '' });
    for (const odd of ['', 'two words', 'line\nend', 'schlüssel'])
      expect(await whmcs.domain('RegisterDomain', { ApiKey: odd })).toEqual({
        error: expect.stringContaining('The API key must be visible ASCII characters'),
      });
  });

  /** The records of the form in WHMCS, in the order of their types. */
  async function shownRecords(): Promise<Record<string, string>[]> {
    const records = await whmcs.domain('GetDNS');
    if (!Array.isArray(records)) throw new Error(JSON.stringify(records));
    return records.toSorted((one, other) => (one.type < other.type ? -1 : 1));
  }
});
