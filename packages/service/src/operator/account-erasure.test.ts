import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { tablesWith } from '../../test/contents.ts';
import { PERSON } from '../../test/domains.ts';
import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';

/** A part of every text that the account and the team entered. */
const MARK = 'zaubernuss';

/** The fencing tokens of domains stay forever with their names, so that the registrar rejects late calls. */
const KEPT_NAMES: ReadonlySet<string> = new Set(['fencing_tokens']);

describe.each(engines)('on %s', (engine) => {
  test('erases all personal data except in invoice documents, which stay as they were issued', async () => {
    const service = await startOperator({ engine });
    const { client, clock, store } = service;
    const { id } = await operator.createAccount({ client, body: { name: `Jonas ${MARK}`, credit_limit: '500.00' } });
    const path = { account_id: id };
    const { key: apiKey } = await operator.issueApiKey({ client, path, body: { label: `Laptop of ${MARK}` } });
    await operator.setBillingProfile({ client, path, body: { ...PROFILE, vat_id: null, reverse_charge: false } });
    const form = { ...SMALL_VM, hostname: `host.${MARK}.net`, default_ptr: `ptr.${MARK}.net`, ...SSH_KEY };
    const vm_id = String((await service.call('createVm', { form, apiKey, idempotencyKey: 'order-1' })).body.data.identifier);
    const abuse = { status: 'STATEMENT_EXPECTED', reason: `Complaint of ${MARK}` } as const;
    await operator.setVmAbuseStatus({ client, path: { vm_id }, body: abuse });
    const statement = await service.call('submitVmAbuseStatement', { path: { vmid: vm_id }, form: { statement: MARK }, apiKey });
    expect(statement.status).toBe(200);
    const person = { ...PERSON, firstname: MARK, lastname: MARK, street: MARK, city: MARK, email: `jonas@${MARK}.example` };
    const { handle } = (await service.call('createHandle', { form: person, apiKey })).body.data;
    expect((await service.call('registerDomain', { form: { domain: `${MARK}.net`, handle }, apiKey })).status).toBe(200);
    await service.call('generateOtp', { apiKey });
    await service.call('addWebhook', { form: { url: `https://${MARK}.invalid/`, description: MARK, enabled: false }, apiKey });
    const sale = { title: `Sale for ${MARK}`, upgradable: true, max_volume: 1, pricings: { nl_ryzen: { core: '1.00' } } };
    const { id: sale_id } = await operator.createSale({ client, body: { ...sale, account_id: id } });

    const erase = () => operator.eraseAccount({ client, path });
    expect(await refusalOf(erase())).toMatchObject({
      status: 409,
      message: expect.stringContaining(
        'cannot be erased, because it is not suspended and has 1 VM, 1 domain, 2 uninvoiced positions. Suspend it,',
      ),
    });
    await operator.suspendAccount({ client, path, body: { reason: `${MARK} has died` } });
    await operator.removeVm({ client, path: { vm_id } });
    await operator.terminateDomain({ client, path: { domain: `${MARK}.net` } });
    clock.advanceTo('2027-12-01T00:00:00Z');
    await service.runScheduledJobs();
    expect(await refusalOf(erase())).toMatchObject({ message: expect.stringContaining('because it has 1 open invoice. Suspend it,') });
    const [invoice] = (await operator.listInvoices({ client, query: { account_id: id } })).items;
    await operator.createCreditNote({
      client,
      path: { invoice_id: invoice?.id ?? '', credit_note: 'goodwill' },
      body: { amount: '0.01', reason: `Goodwill for ${MARK}` },
    });
    await operator.markInvoicePaid({ client, path: { invoice_id: invoice?.id ?? '' } });
    expect((await tablesWithMark(service)).length).toBeGreaterThan(8);
    await service.runScheduledJobs();
    expect(await tablesWithMark(service)).toEqual(expect.arrayContaining(['events', 'webhooks', 'webhook_deliveries']));
    const documents = () => store.read((db) => db.selectFrom('issued_documents').selectAll().where('account_id', '=', id).execute());
    const invoices = () => store.read((db) => db.selectFrom('invoices').selectAll().where('account_id', '=', id).execute());
    const issued = [await documents(), await invoices()];
    expect(JSON.stringify(issued)).toContain(MARK);

    const erased = await erase();
    expect(erased).toMatchObject({ id, name: 'Erased account', suspension_reason: 'Erased', erased_at: '2027-12-01T00:00:00.000Z' });
    // Events and deliveries are deleted in steps.
    await service.runScheduledJobs();
    expect(await tablesWithMark(service)).toEqual(['issued_documents']);
    expect([await documents(), await invoices()]).toEqual(issued);
    const { items: sales } = await operator.listSales({ client });
    expect(sales.find((one) => one.id === sale_id)).toMatchObject({ title: 'Erased', account_id: id, pricings: sale.pricings });
    const { items } = await operator.listAuditRecords({ client, query: { target: id, operation: 'eraseAccount' } });
    expect(items).toMatchObject([{ actor: 'operator', before: { id, erased_at: null }, after: erased }]);

    expect((await service.call('listInvoices', { apiKey })).status).toBe(401);
    clock.advance(1_000);
    expect(await erase()).toEqual(erased);
    const uses: (() => Promise<unknown>)[] = [
      () => operator.issueApiKey({ client, path, body: { label: 'again' } }),
      () => operator.setBillingProfile({ client, path, body: { ...PROFILE, vat_id: null, reverse_charge: false } }),
      () => operator.unsuspendAccount({ client, path }),
      () => operator.suspendAccount({ client, path, body: { reason: MARK } }),
    ];
    for (const use of uses) expect(await refusalOf(use())).toMatchObject({ status: 409, message: expect.stringContaining('was erased') });
    expect(await tablesWithMark(service)).toEqual(['issued_documents']);
  });

  test('keeps the data of other accounts', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const [{ id }, other] = [await service.account(), await service.account()];
    await service.call('createHandle', { form: PERSON, apiKey: other.apiKey });
    const path = { account_id: id };
    await operator.suspendAccount({ client, path, body: { reason: 'Left' } });
    const exportOther = () => operator.exportAccount({ client, path: { account_id: other.id } });
    const before = await exportOther();
    await operator.eraseAccount({ client, path });
    expect(await exportOther()).toEqual(before);
    expect((await service.call('listRequests', { apiKey: other.apiKey })).body.data).toHaveLength(1);
  });
});

const PROFILE = { company: `${MARK} GmbH`, street: `${MARK}allee 1`, postal_code: '60311', city: MARK, country: 'DE' };
const SSH_KEY = {
  ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKJYnCjhCwOsLjSbGdh6VfHpe0vJCkhDKLgHpVxkmVv',
  ssh_key_displayname: `${MARK} laptop`,
};

/** The tables with a row that contains the mark. */
async function tablesWithMark({ store }: TestOperator): Promise<readonly string[]> {
  return (await tablesWith(store, MARK)).filter((name) => !KEPT_NAMES.has(name));
}
