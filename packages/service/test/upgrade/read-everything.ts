/** All that both APIs show of a store. */
import { fillPath } from '@reseller/contract';

import { apiOperations } from '../../src/http/reseller/api.ts';
import type { Db } from '../../src/store/store.ts';
import type { Owner } from '../good-calls.ts';
import { operatorApi } from '../http-client.ts';
import type { TestOperator } from '../operator.ts';

/** A value for each path parameter of an operation that reads. */
type PathValues = Readonly<Record<string, string>>;

/** Reads with each operation that only reads, and returns the responses by request. */
export async function readEverything(service: TestOperator, owner: Owner): Promise<Readonly<Record<string, unknown>>> {
  const path = await service.store.read((db) => pathValues(db, owner));
  const responses: Record<string, unknown> = {};
  const reading = operatorApi.operations.filter(({ method }) => method === 'GET');
  // Some reads leave an audit record.
  for (const { id, method, path: template } of first('listAuditRecords', reading)) {
    const url = fillPath(template, path);
    const { status, text, body } = await service.operate(url, { method });
    responses[`operator ${id}`] = { status, body: withoutRequestId(body ?? text) };
  }
  // The log comes first, because each later request is in it.
  for (const { id } of first(
    'listRequests',
    apiOperations.filter(({ operation }) => operation.readOnly),
  )) {
    const { status, body } = await service.call(id, { path, apiKey: owner.apiKey });
    responses[`reseller ${id}`] = { status, body: withoutRequestId(body) };
  }
  return responses;
}

/** The operations with one of them moved to the beginning. */
function first<One extends { readonly id: string }>(id: string, operations: readonly One[]): readonly One[] {
  return operations.toSorted((one, other) => Number(other.id === id) - Number(one.id === id));
}

function withoutRequestId(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  // A problem has it as `instance`.
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'requestID' && name !== 'instance'));
}

async function pathValues(db: Db, { id }: Owner): Promise<PathValues> {
  const vm = await db
    .selectFrom('vms')
    .select('id')
    .where('account_id', '=', id)
    .where('removed', 'is', null)
    .orderBy('id')
    .executeTakeFirstOrThrow();
  const server = await db.selectFrom('dedicated_servers').select('id').where('account_id', '=', id).orderBy('id').executeTakeFirstOrThrow();
  const domain = await db
    .selectFrom('domains')
    .select(['name', 'handle'])
    .where('account_id', '=', id)
    .orderBy('name')
    .executeTakeFirstOrThrow();
  const invoice = await db.selectFrom('invoices').select('id').where('account_id', '=', id).orderBy('created').executeTakeFirstOrThrow();
  return {
    account_id: id,
    vmid: String(vm.id),
    vm_id: String(vm.id),
    identifier: server.id,
    server_id: server.id,
    domain: domain.name,
    handle: domain.handle,
    invoiceID: invoice.id,
    invoice_id: invoice.id,
    hostsystem: 'nl_ryzen',
    tld: 'org',
    number: '1',
    table: 'invoices',
  };
}
