/** Responses about invoices of closed periods (specification: "Invoice"). */
import type { InvoiceSummary, VmPosition } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import type { Runtime } from '../../delivery/runtime.ts';
import { documentLink, linkExpiry } from '../../rules/document-link.ts';
import type { DocumentFormat } from '../../rules/document-link.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { numberOf } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { ChargesTable, InvoicesTable, PositionsTable } from '../../store/tables/accounting.ts';
import { inTurns } from '../../store/turns.ts';

type LinkSettings = Pick<Runtime, 'publicUrl' | 'secret' | 'ports' | 'invoiceLinkDays'>;

/** A signed link to an invoice or a credit note. */
export function linkTo(documentId: string, settings: LinkSettings, format: DocumentFormat = 'pdf'): string {
  const { publicUrl, secret, ports, invoiceLinkDays } = settings;
  return documentLink(publicUrl(), { documentId, expires: linkExpiry(ports.clock.now(), invoiceLinkDays) }, secret, format);
}

export function toInvoiceSummary(
  invoice: Selectable<InvoicesTable>,
  settings: LinkSettings & Pick<Runtime, 'hasExtension'>,
): InvoiceSummary {
  return {
    created: new Date(invoice.created).toISOString(),
    total: numberOf(BigInt(invoice.total)),
    status: invoice.status,
    invoice: linkTo(invoice.id, settings),
    ...(settings.hasExtension && invoice.number !== null && { number: invoice.number }),
  };
}

/** The positions of an invoice, ordered by VM and time. */
export function positionsOn(db: Db, { id, account_id }: Pick<InvoicesTable, 'id' | 'account_id'>) {
  return db
    .selectFrom('positions')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('invoice_id', '=', id)
    .orderBy('vm_id')
    .orderBy('number');
}

/** The charges in advance of an invoice, ordered by time. */
export function chargesOn(db: Db, { id, account_id }: Pick<InvoicesTable, 'id' | 'account_id'>): Promise<Selectable<ChargesTable>[]> {
  return db
    .selectFrom('charges')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('invoice_id', '=', id)
    .orderBy('start')
    .orderBy('id')
    .execute();
}

/** Positions of a closed invoice by VM. `totalRuntime` and `totalPrice` are only set in the current period. */
export async function toVmPositions(rows: AsyncIterable<Selectable<PositionsTable>>): Promise<Record<string, VmPosition[]>> {
  const vms: Record<string, VmPosition[]> = {};
  await inTurns(rows, (row) => {
    (vms[row.vm_id] ??= []).push({
      type: row.type,
      start: secondsToInstant(row.start),
      stop: row.stop === null ? null : secondsToInstant(row.stop),
      totalRuntime: null,
      monthlyPrice: numberOf(BigInt(row.monthly_price)),
      totalPrice: null,
    });
  });
  return vms;
}
