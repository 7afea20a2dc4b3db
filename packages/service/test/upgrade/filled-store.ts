/** A store with a row in every table: an account with a good call of each operation, and a provider at work. */
import { apiOperations } from '../../src/http/reseller/api.ts';
import { orderServer } from '../dedicated.ts';
import { register } from '../domains.ts';
import { goodCall } from '../good-calls.ts';
import type { Owner } from '../good-calls.ts';
import { SMALL_VM } from '../harness.ts';
import { JPEG } from '../images.ts';
import type { TestOperator } from '../operator.ts';

/** Sends a request of the provider, and returns the body of the response. */
// oxlint-disable-next-line typescript/no-explicit-any -- each step knows the shape that it asks for, and the document was checked
type Operate = (method: string, path: string, body?: object) => Promise<any>;

/**
 * Fills the store of a new service through both APIs.
 *
 * @returns The account with most of the data.
 */
export async function fillEveryTable(service: TestOperator): Promise<Owner> {
  const operate = operating(service);
  // A snapshot contains all rows, so it is taken while there are few.
  await service.store.commit(({ db }) => db.deleteFrom('ip_addresses').where('position', '>=', 40).where('vm_id', 'is', null).execute());
  await operate('PUT', '/sandbox/snapshots/before');
  await setPricesAndTaxes(operate);
  const owner = await service.account('100000.00');
  const profile = { company: 'Musterhost Kft.', street: 'Fő utca 12', postal_code: '1011', city: 'Budapest', country: 'HU' };
  await operate('PUT', `/accounts/${owner.id}/billing-profile`, { ...profile, vat_id: 'HU12345678', reverse_charge: false });
  for (const { id } of apiOperations) {
    const { status, text } = await service.call(id, { ...(await goodCall(service, id, owner)), idempotencyKey: `fill-${id}` });
    if (status !== 200) throw new Error(`${id} failed: ${text}`);
  }
  for (const vmId of service.hypervisor.vms.keys()) service.hypervisor.use(vmId, { sent: 1_003 });
  await payAndCorrect(service, operate, owner);
  await drawDocument(service, owner);
  await restrictAccess(service, operate, owner);
  await operate('POST', '/sandbox/faults', { effect: { kind: 'delay', milliseconds: 1 }, operations: ['listSales'], times: 3 });
  // Stores the failed authentications.
  await service.runScheduledJobs();
  // The second response is the same, so it is stored once.
  for (let read = 0; read < 2; read++) await service.call('listVms', { apiKey: owner.apiKey });
  await leaveFailedJob(service, owner);
  await leaveConsoleLink(service, owner);
  await leaveReservation(service, await service.account());
  await leaveChangedZone(service, owner);
  return owner;
}

/** The scheduled jobs have deleted the earlier link, which has expired. */
async function leaveConsoleLink(service: TestOperator, { apiKey }: Owner): Promise<void> {
  const { list } = (await service.call('listVms', { apiKey })).body.data;
  const { vmid } = list.find(({ status }: { status: string }) => status === 'running');
  await service.call('openVmConsole', { path: { vmid: String(vmid) }, apiKey });
}

/** Stores the PDF of an invoice. */
async function drawDocument(service: TestOperator, { apiKey }: Owner): Promise<void> {
  const [{ document }] = (await service.call('listDocuments', { apiKey })).body.data.list;
  const { pathname, search } = new URL(document);
  const { ok } = await fetch(service.baseUrl + pathname + search);
  if (!ok) throw new Error('The PDF of an invoice cannot be opened.');
}

function operating(service: TestOperator): Operate {
  return async (method, path, body) => {
    const json = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const { status, text, body: received } = await service.operate(path, { method, ...json });
    if (status >= 300) throw new Error(`${method} ${path} failed: ${text}`);
    return received;
  };
}

async function setPricesAndTaxes(operate: Operate): Promise<void> {
  const seller = { company: 'Seller GmbH', street: 'Weg 7', postal_code: '60311', city: 'Frankfurt', country: 'DE', vat_id: 'DE123456789' };
  const bank = { email: 'b@provider.example', bank_name: 'Musterbank', iban: 'DE02120300000000202051', bic: 'BYLADEM1001' };
  const law = { payment_days: 14, tax_number: null, register: 'HRB 12345', managing_directors: 'Erika Mustermann' };
  await operate('PUT', '/invoicing/seller', { ...seller, ...bank, ...law, logo: JPEG.toString('base64') });
  const vat_rates = [
    { basis_points: 1900, valid_from: '2021-01-01' },
    { basis_points: 2000, valid_from: '2026-11-20' },
  ];
  await operate('PUT', '/settings/vat-rates', { vat_rates });
  const prices = { core: '2.20137', mem: '1.10911', nvme: '0.0613', hdd: '0.00777', extra_ip: '1.75', extra_backup_slot: '0.503' };
  const later = { prices: { ...prices, extra_gbit: '5.01' }, valid_from: '2026-11-25T13:07:05.000Z', applies_to: 'all_vms' };
  await operate('POST', '/host-systems/nl_ryzen/price-versions', later);
  const domains = { create: '9.4031', renew: '9.4177', transfer: '5.03', valid_from: '2026-11-25T13:07:05.000Z' };
  await operate('POST', '/tld-prices/org/versions', domains);
  const sale = { title: 'Black November', upgradable: true, max_volume: 5, pricings: { nl_ryzen: { core: '1.53337', mem: '0.9071' } } };
  await operate('POST', '/sales', sale);
}

async function restrictAccess(service: TestOperator, operate: Operate, { id, apiKey }: Owner): Promise<void> {
  const key = await operate('POST', `/accounts/${id}/api-keys`, { label: 'Shop' });
  const spending_limit = { per_day: '20.13', per_month: '300.00', operations: null };
  const restrictions = { valid_until: null, allowed_networks: ['127.0.0.0/8'], spending_limit };
  await operate('PUT', `/api-keys/${key.id}/restrictions`, restrictions);
  await service.call('createVm', { form: SMALL_VM, apiKey: key.key });
  await service.call('listVms', { apiKey: 'not-a-key' });
  await operate('POST', '/operator-tokens', { name: 'Jonas', scopes: ['read', 'support'] });
  const signedIn = await service.operate('/session', { method: 'POST' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  await fetch(`${service.operatorUrl}/session`, { method: 'DELETE', headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  const verifier = await operate('POST', '/verifiers', { name: 'Support desk' });
  const verify = { method: 'POST', headers: { authorization: `Bearer ${verifier.token}`, 'content-type': 'application/json' } };
  await service.operate('/otp/verify', { ...verify, body: JSON.stringify({ code: '00000000', account_id: id }) });
  await service.call('generateOtp', { apiKey });
  await operate('PUT', '/settings/second-operator', { second_operator: true });
  const request = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ second_operator: false }) };
  await service.operate('/settings/second-operator', request);
  const suspended = await service.account();
  await operate('PUT', `/accounts/${suspended.id}/suspension`, { reason: 'Unpaid' });
}

async function payAndCorrect(service: TestOperator, operate: Operate, { id, apiKey }: Owner): Promise<void> {
  service.clock.advanceTo('2027-01-01T00:00:07Z');
  await service.runScheduledJobs();
  const { data: invoices } = (await service.call('listInvoices', { apiKey })).body;
  const [newest = '', older = ''] = Object.keys(invoices);
  await operate('PUT', `/invoices/${older}/credit-notes/outage`, { amount: '3.33', reason: 'Outage' });
  await operate('POST', `/invoices/${older}/mark-paid`);
  const transfer = { amount: '1.07', date: '2027-01-01', method: 'bank_transfer', reference: 'In part', invoice_id: newest };
  await operate('PUT', `/accounts/${id}/payments/part`, transfer);
  const other = await service.account('10.00');
  await operate('PUT', `/accounts/${other.id}/payments/advance`, { ...transfer, amount: '50.00', invoice_id: null });
  await operate('PUT', `/accounts/${other.id}/refunds/back`, { ...transfer, amount: '9.99', invoice_id: undefined });
}

/** A set-up that the fleet cannot complete, so that its account waits. */
async function leaveFailedJob(service: TestOperator, owner: Owner): Promise<void> {
  const offers = service.store.read((db) => db.selectFrom('dedicated_servers').select('id').where('state', '=', 'offered').execute());
  for (const { id } of await offers) await orderServer(service, id, owner.id);
  const { automaticSetUp } = service.fleet;
  if (!automaticSetUp) throw new Error('The fleet has no automatic set-up.');
  service.fleet.automaticSetUp = {
    ...automaticSetUp,
    accessTo() {
      throw new Error('The fleet is out of order.');
    },
  };
  service.clock.advance(7 * 86_400_000);
  await service.runScheduledJobs();
}

/** A purchase that fails at the hypervisor and cannot be undone there either, so that its reservation remains. */
async function leaveReservation({ hypervisor, call }: TestOperator, { apiKey }: Owner): Promise<void> {
  hypervisor.failing = new Error('The hypervisor is out of order.');
  hypervisor.failingToRemove = hypervisor.failing;
  await call('createVm', { form: SMALL_VM, apiKey, idempotencyKey: 'interrupted' });
}

/** A zone and a name that are published only after the store is read. */
async function leaveChangedZone(service: TestOperator, owner: Owner): Promise<void> {
  const { apiKey } = await service.account();
  await register(service, 'unpublished.net', apiKey);
  const [vm] = (await service.call('listVms', { apiKey: owner.apiKey })).body.data.list;
  await service.call('setVmRdns', { path: { vmid: String(vm.vmid) }, form: { domain: 'unpublished.net' }, apiKey: owner.apiKey });
}
