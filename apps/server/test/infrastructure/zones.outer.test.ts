/** Zones in the world: a real DNS server has them, a real secondary copies them, and a certificate authority believes them. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { createReseller } from '@reseller/client/extension';
import type { DsRecord } from '@reseller/client/extension';
import { describe, expect, onTestFinished, test } from 'vitest';

import { freePorts } from '../../../../.config/free-ports.ts';
import { dig } from '../../../../packages/adapters/test/dig.ts';
import { noPowerDns, startPowerDns } from '../../../../packages/adapters/test/powerdns.ts';
import type { PowerDnsServer } from '../../../../packages/adapters/test/powerdns.ts';
import { startServer, temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';

const ACME_RECORDS = resolve(import.meta.dirname, 'acme-records.js');
const DOMAIN = 'certified-customer.net';
const SMALL_VM = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };

/** Why a test cannot run: the programs that it needs are not installed. */
function missing(...programs: readonly string[]): string | undefined {
  const absent = programs.filter((program) => !['/usr/bin', '/usr/sbin'].some((folder) => existsSync(join(folder, program))));
  return absent.length > 0 ? `${absent.join(' and ')} ${absent.length === 1 ? 'is' : 'are'} not installed` : noPowerDns;
}

/** A service whose zones are in PowerDNS, with a domain that was registered a moment ago. */
async function startWithDomain() {
  const dns = await startPowerDns();
  onTestFinished(() => dns.stop());
  const server = await startServer({
    RESELLER_DATA_DIR: temporaryDirectory(),
    RESELLER_DNS: 'powerdns',
    RESELLER_POWERDNS_URL: dns.url,
    RESELLER_POWERDNS_API_KEY: dns.apiKey,
  });
  const reseller = createReseller({ baseUrl: server.baseUrl, apiKey: server.apiKey });
  const { handle } = await reseller.domain.handle.create({
    gender: 'MALE',
    firstname: 'Max',
    lastname: 'Mustermann',
    street: 'Musterstrasse',
    number: '1',
    zipcode: '60311',
    city: 'Frankfurt',
    region: 'Hessen',
    countrycode: 'DE',
    email: 'max@example.com',
    phone: '+49.69123456',
  });
  await reseller.domain.register({ domain: DOMAIN, handle });
  return { dns, server, reseller };
}

async function runAlongside(
  program: string,
  given: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const child = spawn(program, given, { stdio: 'ignore', env: { ...process.env, ...environment } });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  return child;
}

/** The certificate authority of Let's Encrypt for tests, which asks PowerDNS. */
async function startAuthority(
  { dnsPort }: PowerDnsServer,
  folder: string,
): Promise<{ readonly url: string; readonly certificate: string }> {
  const [listen = 0, management = 0] = await freePorts(2);
  const [certificate, privateKey] = [join(folder, 'authority.pem'), join(folder, 'authority.key')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', privateKey, '-out', certificate, ...subject],
    {
      stdio: 'ignore',
    },
  );
  const pebble = {
    listenAddress: `127.0.0.1:${listen}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate,
    privateKey,
    httpPort: 5002,
    tlsPort: 5001,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  };
  writeFileSync(join(folder, 'pebble.json'), JSON.stringify({ pebble }));
  const given = ['-config', join(folder, 'pebble.json'), '-strict=false', '-dnsserver', `127.0.0.1:${dnsPort}`];
  await runAlongside('/usr/bin/pebble', given, { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' });
  return { url: `https://127.0.0.1:${listen}/dir`, certificate };
}

/** A registry: Knot signs the zone above the domain, and has a copy of the zone of the domain, so that a resolver asks one server. */
async function startRegistry({ dnsPort }: PowerDnsServer) {
  const folder = temporaryDirectory();
  const [port = 0] = await freePorts(1);
  const configuration = join(folder, 'knot.conf');
  const delegation = [
    '@ 60 SOA ns1.provider.example. hostmaster.provider.example. SERIAL 60 60 600 60',
    '@ 60 NS ns1.provider.example.',
    `${DOMAIN}. 60 NS ns1.provider.example.`,
  ];
  let serial = 0;
  function write(records: readonly DsRecord[]): void {
    const ds = records.map(
      ({ key_tag, algorithm, digest_type, digest }) => `${DOMAIN}. 60 DS ${key_tag} ${algorithm} ${digest_type} ${digest}`,
    );
    serial += 1;
    writeFileSync(join(folder, 'net.zone'), `${[...delegation, ...ds].join('\n')}\n`.replace('SERIAL', String(serial)));
  }
  write([]);
  writeFileSync(
    configuration,
    `server:
  rundir: ${folder}
  listen: 127.0.0.1@${port}
database:
  storage: ${folder}
remote:
  - id: primary
    address: 127.0.0.1@${dnsPort}
zone:
  - domain: net
    file: ${join(folder, 'net.zone')}
    dnssec-signing: on
    zonefile-load: difference
    zonefile-sync: -1
    journal-content: all
  - domain: ${DOMAIN}
    storage: ${folder}
    master: primary
`,
  );
  await runAlongside('/usr/sbin/knotd', ['--config', configuration]);
  await expect.poll(() => dig(port, DOMAIN, 'DNSKEY')).toHaveLength(1);
  await expect.poll(() => dig(port, 'net', 'DNSKEY')).toHaveLength(2);
  const [flags, protocol, algorithm, ...key] = (await dig(port, 'net', 'DNSKEY')).find((line) => line.startsWith('257 '))?.split(' ') ?? [];
  const anchors = join(folder, 'anchors');
  writeFileSync(anchors, `trust-anchors { net. static-key ${flags} ${protocol} ${algorithm} "${key.join('')}"; };`);
  return {
    async publish(records: readonly DsRecord[]): Promise<void> {
      write(records);
      execFileSync('/usr/sbin/knotc', ['--config', configuration, '--blocking', 'zone-reload', 'net']);
    },
    /** What a resolver with the key of the zone above says about a name in the domain. */
    async validate(): Promise<string> {
      const given = ['@127.0.0.1', '-p', String(port), '-a', anchors, '+root=net', `www.${DOMAIN}`, 'A'];
      const { stdout, stderr } = await promisify(execFile)('/usr/bin/delv', given).catch((failed: unknown) => Object(failed));
      return `${stdout}${stderr}`;
    },
  };
}

async function certificateFor(
  domain: string,
  { dns, server, folder }: { dns: PowerDnsServer; server: Server; folder: string },
): Promise<string> {
  const authority = await startAuthority(dns, folder);
  const script = join(folder, 'records');
  writeFileSync(script, `#!/bin/sh\nexec '${process.execPath}' '${ACME_RECORDS}' "$@"\n`, { mode: 0o755 });
  const dnsPort = String(dns.dnsPort);
  const options = ['--accept-tos', '--email', 'max@example.com', '--path', folder, '--server', authority.url];
  const challenge = ['--dns', 'exec', '--dns.disable-cp', '--dns.resolvers', `127.0.0.1:${dnsPort}`, '-d', domain, '-d', `*.${domain}`];
  const environment = {
    ...process.env,
    EXEC_PATH: script,
    // The pause between the two challenges of the name, in seconds. The default is a minute.
    EXEC_SEQUENCE_INTERVAL: '1',
    EXEC_POLLING_INTERVAL: '1',
    LEGO_CA_CERTIFICATES: authority.certificate,
    BASE_URL: server.baseUrl,
    API_KEY: server.apiKey,
    DOMAIN: domain,
    DNS_PORT: dnsPort,
  };
  await expect.poll(() => fetchStatus(authority.url)).toBe('listens');
  await promisify(execFile)('lego', [...options, ...challenge, 'run'], { env: environment });
  return readFileSync(join(folder, 'certificates', `${domain}.crt`), 'utf8');
}

/** Any response, even one whose certificate is unknown, means that the server listens. */
async function fetchStatus(url: string): Promise<string> {
  return fetch(url).then(
    () => 'listens',
    (error: unknown) => (/certificate/.test(String(Object(error).cause)) ? 'listens' : 'is silent'),
  );
}

const withoutAcme = missing('lego', 'pebble', 'openssl');
describe.skipIf(withoutAcme !== undefined)(`a certificate authority${withoutAcme === undefined ? '' : `: ${withoutAcme}`}`, () => {
  test('issues a certificate for a domain and its subdomains, which was registered a moment before', { tags: 'deep' }, async () => {
    const { dns, server, reseller } = await startWithDomain();
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'chain.pem'), await certificateFor(DOMAIN, { dns, server, folder }));
    const shown = execFileSync('openssl', ['x509', '-in', join(folder, 'chain.pem'), '-noout', '-ext', 'subjectAltName'], {
      encoding: 'utf8',
    });
    expect(shown.match(/DNS:[^,\s]+/g)?.toSorted()).toEqual([`DNS:*.${DOMAIN}`, `DNS:${DOMAIN}`]);
    // The records of the challenge are gone, from the API at once and from PowerDNS within a second.
    expect(await reseller.domain.dns.list(DOMAIN)).toEqual([]);
    await expect.poll(() => dns.resolve(`_acme-challenge.${DOMAIN}`, 'TXT')).toEqual([]);
  });
});

function resolverAt(port: number): Resolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return resolver;
}

function codeOf(error: unknown): unknown {
  return Object(error).code;
}

const withoutKnot = missing('knotd');
describe.skipIf(withoutKnot !== undefined)(`a secondary name server${withoutKnot === undefined ? '' : `: ${withoutKnot}`}`, () => {
  test('copies the zone of a domain and the reverse zone of a VM with their signatures', async () => {
    const { dns, reseller } = await startWithDomain();
    const { identifier } = await reseller.vm.create({ ...SMALL_VM, default_ptr: `web1.${DOMAIN}` });
    const addresses = (await reseller.vm.rdns.list(identifier)).map(({ ip_address }) => ip_address);
    const primary = resolverAt(dns.dnsPort);
    for (const address of addresses) await expect.poll(() => primary.reverse(address).catch(codeOf)).toEqual([`web1.${DOMAIN}`]);
    const [ipv4 = ''] = addresses;
    const reverseZone = `${ipv4.split('.').slice(0, -1).toReversed().join('.')}.in-addr.arpa`;
    await reseller.domain.dns.add(DOMAIN, { type: 'TXT', sub: 'www', data: 'say "hello"; \\ ok' });
    await expect.poll(() => dns.resolve(`www.${DOMAIN}`, 'TXT')).toEqual(['say "hello"; \\ ok']);
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'zones'));
    const [port = 0] = await freePorts(1);
    writeFileSync(
      join(folder, 'knot.conf'),
      `server:
  rundir: ${folder}
  listen: 127.0.0.1@${port}
database:
  storage: ${folder}
remote:
  - id: primary
    address: 127.0.0.1@${dns.dnsPort}
zone:
  - domain: ${DOMAIN}
    storage: ${join(folder, 'zones')}
    master: primary
  - domain: ${reverseZone}
    storage: ${join(folder, 'zones')}
    master: primary
`,
    );
    await runAlongside('/usr/sbin/knotd', ['--config', join(folder, 'knot.conf')]);
    const resolver = resolverAt(port);
    await expect.poll(() => resolver.resolveTxt(`www.${DOMAIN}`).catch(codeOf)).toEqual([['say "hello"; \\ ok']]);
    expect(await resolver.resolveNs(DOMAIN)).toEqual(expect.arrayContaining(['ns1.provider.example', 'ns2.provider.example']));
    const answer = execFileSync('dig', ['@127.0.0.1', '-p', String(port), DOMAIN, 'DNSKEY', '+dnssec', '+short'], { encoding: 'utf8' });
    expect(answer).toMatch(/^257 3 13 /m);
    await expect.poll(() => resolver.reverse(ipv4).catch(codeOf)).toEqual([`web1.${DOMAIN}`]);
  });
});

const noResolver = missing('knotd', 'knotc', 'delv');
describe.skipIf(noResolver !== undefined)(`a resolver${noResolver === undefined ? '' : `: ${noResolver}`}`, () => {
  test('validates the answers of a domain with DNSSEC by the key of the zone above', { tags: 'deep' }, async () => {
    const { dns, reseller } = await startWithDomain();
    await reseller.domain.dns.add(DOMAIN, { type: 'A', sub: 'www', data: '198.51.100.23' });
    await expect.poll(() => dns.resolve(`www.${DOMAIN}`, 'A')).toEqual(['198.51.100.23']);
    const registry = await startRegistry(dns);
    expect(await registry.validate()).toContain('; unsigned answer');
    const { ds_records: records } = await reseller.domain.dnssec.enable(DOMAIN);
    expect(records).toHaveLength(1);
    await registry.publish(records);
    expect(await registry.validate()).toContain('; fully validated');
    await registry.publish(
      records.map((record) => ({ ...record, digest: record.digest.replaceAll(/^./g, (digit) => (digit === '0' ? '1' : '0')) })),
    );
    expect(await registry.validate()).toContain('no valid');
    await registry.publish((await reseller.domain.dnssec.disable(DOMAIN)).ds_records);
    expect(await registry.validate()).toContain('; unsigned answer');
  });
});
