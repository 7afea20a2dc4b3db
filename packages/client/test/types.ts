/** What must not compile does not, and what is answered has the document's types. Compiled by `types.test.ts`; never run. */
import { createReseller } from '@reseller/client';
import type { Call, CreatedVm, OutcomeUnknownError, Recovered, RequestLogItem, Reseller } from '@reseller/client';
import { createClient, createVm } from '@reseller/client/operations';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | undefined => undefined;

const reseller: Reseller = createReseller({ apiKey: 'key', environment: 'sandbox' });
createReseller({ apiKey: 'key', baseUrl: 'https://a.test' });
// @ts-expect-error -- no API key
createReseller({ baseUrl: 'https://a.test' });
// @ts-expect-error -- neither an address nor an environment
createReseller({ apiKey: 'key' });
// @ts-expect-error -- both
createReseller({ apiKey: 'key', baseUrl: 'https://a.test', environment: 'live' });
// @ts-expect-error -- no such environment
createReseller({ apiKey: 'key', environment: 'test' });

const vm = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };
export const created: Call<CreatedVm> = reseller.vm.create(vm);
// @ts-expect-error -- no API key
createClient({ baseUrl: 'https://a.test' });
export const alone: Promise<CreatedVm> = createVm(createClient({ apiKey: 'key', baseUrl: 'https://a.test' }), vm);
// @ts-expect-error -- text for an integer
reseller.vm.create({ ...vm, cores: '2' });
// @ts-expect-error -- an unknown field
reseller.vm.create({ ...vm, hostnane: 'x' });
// @ts-expect-error -- a field is missing
reseller.vm.create({ cores: 2, mem: 4096, disk: 40, os: 'debian_12' });
// @ts-expect-error -- null
reseller.vm.create({ ...vm, hostname: null });
reseller.vm.create({ ...vm, hostname: undefined, storage: undefined });
reseller.vm.create({ ...vm, ssh_key: 'ssh-ed25519 AAAA', ssh_key_displayname: 'laptop' });
// The specification does not say that a name needs a key.
reseller.vm.create({ ...vm, ssh_key_displayname: 'laptop' });

const two = { ns1: 'ns1.a.test', ns2: 'ns2.a.test' };
reseller.domain.setNameservers('a.test', two);
reseller.domain.setNameservers('a.test', { ...two, ns3: 'c', ns4: 'd', ns5: 'e' });
// @ts-expect-error -- ns4 without ns3
reseller.domain.setNameservers('a.test', { ...two, ns4: 'd' });
// @ts-expect-error -- ns4 with an ns3 that is undefined
reseller.domain.setNameservers('a.test', { ...two, ns3: undefined, ns4: 'd' });
// @ts-expect-error -- ns5 without ns4
reseller.domain.setNameservers('a.test', { ...two, ns3: 'c', ns5: 'e' });
reseller.domain.register({ domain: 'a.test', handle: 'x', ...two });
// @ts-expect-error -- ns1 without ns2
reseller.domain.register({ domain: 'a.test', handle: 'x', ns1: 'a' });

reseller.vm.reinstall(12_345);
reseller.vm.reinstall('12345', { os: 'debian_12' }, { timeoutMs: 1_000, signal: undefined });
// @ts-expect-error -- a domain is text
reseller.domain.info(5);
// @ts-expect-error -- no such operation
reseller.vm.destroy('12345');
// @ts-expect-error -- no such option
reseller.vm.hosts({ timeout: 5 });
// @ts-expect-error -- a read has no unknown outcome
reseller.vm.hosts({ reconcile: true });

export const recovered: Call<Recovered<CreatedVm>> = reseller.vm.create(vm, { reconcile: true });
is<Equal<Awaited<typeof created>['config']['password'], string>>();
is<Equal<Awaited<typeof created>['config']['network_speed'], string>>();
is<Equal<Awaited<typeof recovered>['config']['password'], string | undefined>>();
is<Equal<Awaited<typeof recovered>['identifier'], number>>();
is<Equal<Awaited<ReturnType<typeof reseller.account.requests>>, RequestLogItem[]>>();

/** The result of a reconciliation tells its type by the operation. */
export async function addressesOf(error: OutcomeUnknownError): Promise<readonly string[]> {
  const found = await reseller.reconcile(error);
  if (found.outcome !== 'committed') return [];
  if (found.operation === 'createVm') return found.data.config.ipv4.map(({ address }) => address);
  // @ts-expect-error -- another operation's answer
  return found.data.config;
}

export async function firstEndpoint(): Promise<string | undefined> {
  for await (const { endpoint } of reseller.account.allRequests()) return endpoint;
  return undefined;
}
