/** The provider's operations for tests, at the time of the test's clock. */

import type { InvoiceSummary } from '@reseller/client';

import { cancelInvoice, markInvoicePaid } from '../src/core/accounting/invoice-changes.ts';
import { createSale, endSale } from '../src/core/catalogue/sale-life-cycle.ts';
import type { NewSale } from '../src/core/catalogue/sale-life-cycle.ts';
import { euros } from '../src/rules/money.ts';
import type { BilledResources } from '../src/rules/resources.ts';
import type { TestService } from './harness.ts';

/** Provider operations on a service. */
export function providerOf({ store, clock, ports, vms }: Pick<TestService, 'store' | 'clock' | 'ports' | 'vms'>) {
  return {
    /** A sale for nl_ryzen that is active at once and lists all three resources: SMALL_VM costs 4.40 EUR in it. */
    createSale: (sale: Partial<NewSale> = {}) => store.commit(({ db }) => createSale(db, ports, { ...ryzenSale(clock.now()), ...sale })),
    endSale: (id: string) => store.commit(({ db }) => endSale(db, id, clock.now())),
    markPaid: (invoiceId: string) => store.commit(({ db }) => markInvoicePaid(db, { ports }, { invoiceId, now: clock.now() })),
    cancel: (invoiceId: string) => store.commit(({ db }) => cancelInvoice(db, { ports }, { invoiceId, now: clock.now() })),
    resize: (vmId: number, resources: Partial<BilledResources>) => vms.resize(vmId, { resources }),
    stop: (vmId: number) => vms.stop(vmId),
    start: (vmId: number) => vms.start(vmId),
    remove: (vmId: number) => vms.remove(vmId),
  };
}

function ryzenSale(start: number): NewSale {
  return {
    title: 'Ryzen autumn',
    accountId: null,
    start,
    stop: null,
    upgradable: true,
    maxVolume: 100,
    pricings: { nl_ryzen: { core: euros('1.00'), mem: euros('0.40'), nvme: euros('0.02') } },
  };
}

/** The account's invoices with their IDs, newest first, as the service returns them. */
export async function invoicesOf(
  service: Pick<TestService, 'call' | 'apiKey'>,
  apiKey = service.apiKey,
): Promise<(InvoiceSummary & { readonly id: string })[]> {
  const { data }: { data: Readonly<Record<string, InvoiceSummary>> } = (await service.call('listInvoices', { apiKey })).body;
  return Object.entries(data).map(([id, invoice]) => ({ id, ...invoice }));
}
