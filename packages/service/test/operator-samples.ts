/** The example requests of the operator document, with what they need in a sandbox with its sample data. */
import document from '@reseller/openapi/operator.json' with { type: 'json' };

import { operatorApi } from '../src/http/operator/api.ts';
import type { OperatorApi } from '../src/http/operator/api.ts';
import { sampleIdentifiers } from '../src/sandbox/sample-identifiers.ts';
import { startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';

export type Values = Readonly<Record<string, string>>;

export async function startSandbox(): Promise<TestOperator> {
  const sandbox = await startOperator({ hasDemo: true });
  // The registrar of the tests remembers domains; that of a sandbox does not need to.
  sandbox.registrar.domains.set(sampleIdentifiers.domain, {
    contact: await contact(sandbox),
    nameservers: [],
    authcode: null,
    renewed: true,
    transferLock: false,
    dsRecords: [],
  });
  return sandbox;
}

async function contact({ store }: TestOperator) {
  const {
    account_id: _account,
    created: _created,
    type: _type,
    fax: _fax,
    id,
    ...person
  } = await store.read((db) => db.selectFrom('handles').selectAll().where('id', '=', sampleIdentifiers.handle).executeTakeFirstOrThrow());
  return { handle: id, ...person };
}

/** The value at a JSON Pointer of the document. */
export function at(pointer: string): unknown {
  const tokens = pointer.split('/').slice(1);
  return tokens.reduce<unknown>((value, token) => resolved(Object(value)[token.replaceAll('~1', '/').replaceAll('~0', '~')]), document);
}

function resolved(value: unknown): unknown {
  const { $ref } = Object(value);
  return typeof $ref === 'string' ? at($ref.slice(1)) : value;
}

/** The values of named examples, by name. */
export function examplesAt(pointer: string): [string, unknown][] {
  return Object.entries(Object(at(`${pointer}/examples`))).map(([name, example]) => [name, Object(resolved(example)).value]);
}

export function examplesOf({ operation }: OperatorApi, place: 'path' | 'query'): Values {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place && parameter.examples.length > 0);
  return Object.fromEntries(parameters.map(({ name, examples: [example] }) => [name, String(example)]));
}

export const bodiesOf = ({ operation }: OperatorApi) => examplesAt(`${operation.pointer}/requestBody/content/application~1json`);

export const named = (id: string): OperatorApi => {
  const found = operatorApi.find((api) => api.id === id);
  if (!found) throw new Error(`The document has no operation ${id}.`);
  return found;
};

export function send(
  sandbox: TestOperator,
  api: OperatorApi,
  { path = {}, query = {}, body }: { path?: Values; query?: Values; body?: unknown },
) {
  const url = api.operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return sandbox.operate(search === '' ? url : `${url}?${search}`, {
    method: api.operation.method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
}

/** The examples of the paths of prices. */
const PRICED = { ...examplesOf(named('getHostSystem'), 'path'), ...examplesOf(named('setTldPrice'), 'path') };

/** The operation that creates the resource of a path, and the values of the path in its response. */
const MADE_BY: Readonly<Record<string, readonly [string, (response: unknown) => Values]>> = {
  removeFault: ['createFault', (response) => ({ fault_id: Object(response).id })],
  deleteSnapshot: ['createSnapshot', (response) => ({ snapshot: Object(response).name })],
  restoreSnapshot: ['createSnapshot', (response) => ({ snapshot: Object(response).name })],
  rotateOperatorToken: ['createOperatorToken', (response) => ({ operator_token_id: Object(response).id })],
  revokeOperatorToken: ['createOperatorToken', (response) => ({ operator_token_id: Object(response).id })],
  withdrawHostSystemPrices: ['scheduleHostSystemPrices', (response) => ({ ...PRICED, valid_from: Object(response).valid_from })],
  withdrawTldPrices: ['scheduleTldPrices', (response) => ({ ...PRICED, valid_from: Object(response).valid_from })],
  deleteIsolatedAccount: ['createIsolatedAccount', (response) => ({ account_id: Object(response).account.id })],
  reversePayment: ['recordPayment', (response) => ({ account_id: Object(response).account_id, payment: Object(response).name })],
  eraseAccount: ['createIsolatedAccount', (response) => ({ account_id: Object(response).account.id })],
};

/** The preparation that an operation needs besides the sample data. */
const BEFORE: Readonly<Record<string, (sandbox: TestOperator) => Promise<unknown>>> = {
  // The request log of the sample data is empty.
  getAccountRequest: (sandbox) => requestOfDemoAccount(sandbox),
  startVm: (sandbox) => send(sandbox, named('stopVm'), { path: examplesOf(named('stopVm'), 'path') }),
  adoptVm: addMachine,
  getIpPool: (sandbox) => sendExample(sandbox, 'defineIpPool'),
  restoreVmBackup: addSampleBackup,
  releaseVm: addMachine,
  // Only a balance can be refunded.
  recordRefund: (sandbox) =>
    send(sandbox, named('recordPayment'), {
      path: { ...examplesOf(named('recordPayment'), 'path'), payment: 'in-advance' },
      body: { ...Object(bodiesOf(named('recordPayment'))[0]?.[1]), amount: '1000.00' },
    }),
};

/** A machine that carries the mark of the service, and that the store does not have. */
async function addMachine({ hypervisor }: TestOperator): Promise<void> {
  const vmId = Number(examplesOf(named('adoptVm'), 'path')['vm_id']);
  const size = { vmId, node: 'nl-ryzen-01', cores: 2, mem: 4096, disk: 40, storage: null, networkSpeed: 1000, backupSlots: 2 };
  const guest = { os: 'debian_12', hostname: 'web1.reseller-customer.net', username: 'root', password: '', sshKey: null, userData: null };
  hypervisor.vms.set(vmId, { ...size, ...guest, ipv4: [], ipv6: [] });
}

/** The hypervisor of the tests remembers backups. */
async function addSampleBackup(sandbox: TestOperator): Promise<void> {
  await addMachine(sandbox);
  const machine = [...sandbox.hypervisor.vms.values()][0];
  if (machine) sandbox.hypervisor.copies.set(sampleIdentifiers.vm, new Map([[sampleIdentifiers.backup, machine]]));
}

async function requestOfDemoAccount(sandbox: TestOperator): Promise<void> {
  const key = await send(sandbox, named('issueApiKey'), { path: { account_id: demoAccount }, body: { label: 'Examples' } });
  await sandbox.call('listDomains', { apiKey: Object(key.body).key });
  // As the next round of jobs does. On PostgreSQL, a request has its number from then on.
  await sandbox.store.requestLog.numberAll();
}

export async function pathFor(sandbox: TestOperator, api: OperatorApi): Promise<Values> {
  await BEFORE[api.id]?.(sandbox);
  const [maker, read] = MADE_BY[api.id] ?? [];
  if (maker === undefined || read === undefined) return examplesOf(api, 'path');
  const made = await send(sandbox, named(maker), { path: examplesOf(named(maker), 'path'), body: bodiesOf(named(maker))[0]?.[1] });
  const path = read(made.body);
  // Only the data of a suspended account may be erased.
  if (api.id === 'eraseAccount') await send(sandbox, named('suspendAccount'), { path, body: { reason: 'Left' } });
  return path;
}

/** Sends the first example request of an operation. */
export async function sendExample(sandbox: TestOperator, id: string): Promise<unknown> {
  const api = named(id);
  return send(sandbox, api, { path: await pathFor(sandbox, api), body: bodiesOf(api)[0]?.[1] });
}

/** The account of the sample data. */
export const demoAccount = examplesOf(named('getAccount'), 'path')['account_id'] ?? '';
