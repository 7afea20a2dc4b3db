/** Checks that an account cannot tell another account's objects from objects that do not exist. */
import { expect } from 'vitest';

import type { OperationId } from '../../src/reseller/operation.ts';
import type { Model, ModelAccount } from './model.ts';
import { notFound } from './requests.ts';
import type { Simulation } from './simulation.ts';

interface Probe {
  readonly id: OperationId;
  readonly parameter: string;
  readonly form?: Readonly<Record<string, string>>;
  /** An identifier that does not exist. */
  readonly unknown: string;
  /** The identifiers of an account's objects. */
  of(model: Model, account: ModelAccount): readonly string[];
}

const vmsOf = ({ vms }: Model, account: ModelAccount) => vms.filter((vm) => vm.account === account).map(({ id }) => String(id));
const serversOf = ({ servers }: Model, account: ModelAccount) => servers.filter((server) => server.account === account).map(({ id }) => id);
const domainsOf = ({ domains }: Model, account: ModelAccount) =>
  [...domains.values()].filter((one) => one.account === account).map(({ name }) => name);
const ANY_UUID = '01900000-0000-7000-8000-00000000dead';
const server = { parameter: 'identifier', unknown: ANY_UUID, of: serversOf };
const domain = { parameter: 'domain', unknown: 'unknown-domain.com', of: domainsOf };

const probes: readonly Probe[] = [
  { id: 'reinstallVm', parameter: 'vmid', form: {}, unknown: '00001', of: vmsOf },
  { id: 'getDedicatedServer', ...server },
  { id: 'deleteDedicatedServer', ...server },
  { id: 'undeleteDedicatedServer', ...server },
  { id: 'getDomain', ...domain },
  { id: 'setDomainNameservers', form: { ns1: 'default', ns2: 'default' }, ...domain },
  { id: 'renewDomain', ...domain },
  { id: 'setDomainHandle', form: { handle: 'HDL-UNKNOWN22222' }, ...domain },
  { id: 'getDomainDnssec', ...domain },
  { id: 'enableDomainDnssec', ...domain },
  { id: 'disableDomainDnssec', ...domain },
  { id: 'setDomainTransferLock', form: { transfer_lock: 'true' }, ...domain },
  { id: 'requestDomainAuthcode', ...domain },
  { id: 'undeleteDomain', ...domain },
  { id: 'editDomainDns', form: { type: 'A', sub: 'www', data: '192.0.2.66' }, ...domain },
  { id: 'getHandle', parameter: 'handle', unknown: 'HDL-UNKNOWN22222', of: (_, { handles }) => handles.map(({ id }) => id) },
  { id: 'getInvoice', parameter: 'invoiceID', unknown: ANY_UUID, of: (_, { invoiceIds }) => [...invoiceIds.values()] },
];

/** An account tries operations on another account's objects. */
export async function probeOtherAccounts({ dice, model, client, describe }: Simulation): Promise<void> {
  const owner = dice.pick(model.accounts);
  const stranger = dice.pick(model.accounts.filter((account) => account !== owner));
  for (const { id, parameter, form, unknown, of } of probes) {
    const identifier = dice.pickAny(of(model, owner));
    if (identifier === undefined || dice.chance(0.5)) continue;
    const sent = (text: string) => ({ path: { [parameter]: text }, ...(form && { form }) });
    describe(`${stranger.name} tries ${id} of ${identifier} of ${owner.name}`);
    const replies = [await client.call(stranger, id, sent(identifier)), await client.call(stranger, id, sent(unknown))];
    const [ofOwner, ofUnknown] = replies.map(({ status, errorType, message }) => ({ status, errorType, message }));
    expect(ofOwner).toMatchObject({ status: notFound.status, errorType: notFound.type });
    expect(ofOwner).toEqual(ofUnknown);
  }
}
