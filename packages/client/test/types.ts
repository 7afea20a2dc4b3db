/** The code that must compile and the code that must not. `package.test.ts` compiles this file. It never runs. */
import { createReseller } from '@reseller/client';
import type {
  Call,
  CreatedVm,
  CreateVmForm,
  DomainDetails,
  DomainNameservers,
  RegisterDomainForm,
  DomainStatus,
  DryRun,
  OutcomeUnknownError,
  RequestLogItem,
  Reseller,
  SetDomainNameserversForm,
} from '@reseller/client';
import { createReseller as createExtended } from '@reseller/client/extension';
import { createClient, createVm } from '@reseller/client/operations';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | undefined => undefined;

const reseller: Reseller = createReseller({ apiKey: 'key', environment: 'sandbox' });
createReseller({ apiKey: 'key', baseUrl: 'https://a.test' });
createReseller({ baseUrl: 'https://a.test' });
// @ts-expect-error -- neither an address nor an environment
createReseller({ apiKey: 'key' });
// @ts-expect-error -- both
createReseller({ apiKey: 'key', baseUrl: 'https://a.test', environment: 'live' });
// @ts-expect-error -- no such environment
createReseller({ apiKey: 'key', environment: 'test' });

const vm = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };
export const created: Call<CreatedVm> = reseller.vm.create(vm);
createClient({ baseUrl: 'https://a.test' });
export const alone: Promise<CreatedVm> = createVm({ client: createClient({ apiKey: 'key', baseUrl: 'https://a.test' }), body: vm });
// @ts-expect-error -- a text instead of an integer
reseller.vm.create({ ...vm, cores: '2' });
// @ts-expect-error -- an unknown field
reseller.vm.create({ ...vm, hostnane: 'x' });
// @ts-expect-error -- a field is missing
reseller.vm.create({ cores: 2, mem: 4096, disk: 40, os: 'debian_12' });
// @ts-expect-error -- null
reseller.vm.create({ ...vm, hostname: null });
reseller.vm.create({ ...vm, ssh_key: 'ssh-ed25519 AAAA', ssh_key_displayname: 'laptop' });
// The specification does not say that a name needs a key.
reseller.vm.create({ ...vm, ssh_key_displayname: 'laptop' });
// The method of a form accepts the type of that form, also with fields that are spread conditionally.
export const createAny = (form: CreateVmForm): Call<CreatedVm> => reseller.vm.create(form);
export const registerAny = (form: RegisterDomainForm): Call<DomainDetails> => reseller.domain.register(form);
export const setAny = (form: SetDomainNameserversForm): Call<DomainNameservers> => reseller.domain.setNameservers('a.test', form);
export const createNamed = (name?: string): Call<CreatedVm> => reseller.vm.create({ ...vm, ...(name !== undefined && { hostname: name }) });

const two = { ns1: 'ns1.a.test', ns2: 'ns2.a.test' };
reseller.domain.setNameservers('a.test', two);
reseller.domain.setNameservers('a.test', { ...two, ns3: 'c', ns4: 'd', ns5: 'e' });
reseller.domain.register({ domain: 'a.test', handle: 'x', ...two });
export const setSome = (ns3?: string): Call<DomainNameservers> =>
  reseller.domain.setNameservers('a.test', { ...two, ...(ns3 !== undefined && { ns3 }) });

reseller.vm.reinstall(12_345);
reseller.vm.reinstall('12345', { os: 'debian_12' }, { timeoutMs: 1_000, signal: undefined });
// @ts-expect-error -- a domain is text
reseller.domain.info(5);
// @ts-expect-error -- no such operation
reseller.vm.destroy('12345');
// @ts-expect-error -- no such option
reseller.vm.hosts({ timeout: 5 });
// @ts-expect-error -- only the extension has it
reseller.vm.list();

export const plan: Promise<DryRun> = reseller.dryRun((api) => api.vm.create(vm));
is<Equal<Awaited<typeof created>['config']['password'], string>>();
is<Equal<Awaited<typeof created>['config']['network_speed'], string>>();
is<Equal<Awaited<ReturnType<typeof reseller.account.requests>>, RequestLogItem[]>>();

/** The operation narrows the type of a reconciliation. */
export async function addressesOf(error: OutcomeUnknownError): Promise<readonly string[]> {
  const found = await reseller.reconcile(error);
  if (found.outcome !== 'committed') return [];
  if (found.operation === 'createVm') {
    is<Equal<typeof found.data.config.password, string | undefined>>();
    is<Equal<typeof found.data.identifier, number>>();
    return found.data.config.ipv4.map(({ address }) => address);
  }
  // @ts-expect-error -- another operation's response
  return found.data.config;
}

/** The client of the extension also finds its operations. */
export async function renewalOf(error: OutcomeUnknownError): Promise<string | undefined> {
  const found = await createExtended({ environment: 'sandbox' }).reconcile(error);
  if (found.outcome !== 'committed') return undefined;
  if (found.operation === 'createVm') return found.data.config.ipv4[0]?.address;
  return found.operation === 'renewDomain' ? found.data.domain : undefined;
}

export async function firstEndpoint(): Promise<string | undefined> {
  for await (const { endpoint } of reseller.account.requests()) return endpoint;
  return undefined;
}

/** Lists are arrays, although the API wraps some of them in objects. */
export const domains: Call<string[]> = reseller.domain.list();
export const invoiceIDs = async (): Promise<string[]> => (await reseller.accounting.invoices()).map(({ invoiceID }) => invoiceID);

/** The editor completes known values of an open enumeration. Others are accepted. */
export const status: DomainStatus = 'anything';
is<Equal<Extract<DomainStatus, 'OK'>, 'OK'>>();

export const patient: Reseller = reseller.withOptions({ timeoutMs: 60_000 });
// @ts-expect-error -- a client keeps its key
reseller.withOptions({ apiKey: 'other' });
