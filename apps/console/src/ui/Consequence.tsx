import type { AccountCurrentInvoice, Invoice, InvoiceDetail, OperationId, Vm } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';

import { decimalOf, grouped, sumOf, unitsOf } from '../api/money.ts';
import { queryOf } from '../api/queries.ts';
import { useMayUse } from '../app/session.ts';

const DAYS_OF_A_PRICE = 30n;
const CENTS = 2;

interface Props {
  readonly id: OperationId;
  readonly path: Readonly<Record<string, string>>;
}

/** What an operation means for the resource of the form, in amounts. */
export function Consequence({ id, path }: Props) {
  const { account_id, vm_id, invoice_id } = path;
  if (id === 'suspendAccount' && account_id !== undefined) return <OfSuspension accountId={account_id} />;
  if (id === 'recordPayment' && account_id !== undefined) return <OfPayment accountId={account_id} />;
  if (id === 'createCreditNote' && invoice_id !== undefined) return <OfCreditNote invoiceId={invoice_id} />;
  return vm_id === undefined ? null : <OfVm id={id} vmId={vm_id} />;
}

function OfSuspension({ accountId }: { readonly accountId: string }) {
  const { data } = useQuery({
    ...queryOf('getAccountCurrentInvoice', { path: { account_id: accountId } }),
    enabled: useMayUse('getAccountCurrentInvoice'),
  });
  return <Sentence text={data && suspensionOf(data)} />;
}

function suspensionOf({ positions }: Pick<AccountCurrentInvoice, 'positions'>): string {
  const running = positions.flatMap(({ kind, stop, monthly_price: price }) =>
    kind === 'vm' && stop === null && price !== null ? [price] : [],
  );
  if (running.length === 0) return 'No VM of it is billed at present.';
  const [vms, run, cost] = running.length === 1 ? ['VM', 'runs', 'costs'] : [`${running.length} VMs`, 'run', 'cost'];
  return `Its ${vms} ${run} on and ${cost} ${perDay(sumOf(running))} EUR net a day.`;
}

function OfPayment({ accountId }: { readonly accountId: string }) {
  const query = queryOf('listInvoices', { query: { account_id: accountId, status: 'OPEN' } });
  const { data } = useQuery({ ...query, enabled: useMayUse('listInvoices') });
  return <Sentence text={data && owedBy(data)} />;
}

function owedBy({
  items,
  next_cursor,
}: {
  readonly items: readonly Pick<Invoice, 'unpaid'>[];
  readonly next_cursor: string | null;
}): string {
  if (items.length === 0) return 'It has no open invoice: the payment becomes its balance.';
  const owed = grouped(decimalOf(sumOf(items.flatMap(({ unpaid }) => (unpaid === null ? [] : [unpaid])))));
  const invoices = items.length === 1 ? 'open invoice' : `${items.length} open invoices`;
  return next_cursor === null ? `It owes ${owed} EUR gross for its ${invoices}.` : `It owes more than ${owed} EUR gross.`;
}

function OfCreditNote({ invoiceId }: { readonly invoiceId: string }) {
  const { data } = useQuery({ ...queryOf('getInvoice', { path: { invoice_id: invoiceId } }), enabled: useMayUse('getInvoice') });
  return <Sentence text={data && `At most ${grouped(leftOf(data))} EUR net are left to credit.`} />;
}

function leftOf({ total, credit_notes: notes }: Pick<InvoiceDetail, 'total' | 'credit_notes'>): string {
  return decimalOf(unitsOf(total) - sumOf(notes.map(({ amount }) => amount)));
}

function OfVm({ id, vmId }: { readonly id: OperationId; readonly vmId: string }) {
  const mayRead = useMayUse('getVm');
  const { data } = useQuery({ ...queryOf('getVm', { path: { vm_id: vmId } }), enabled: mayRead && id in OF_VM });
  return <Sentence text={data?.abuse.status === 'BLOCKED' ? undefined : data && OF_VM[id]?.(data)} />;
}

/** How the price of a VM changes that is not blocked. */
const OF_VM: Readonly<Partial<Record<OperationId, (vm: Pick<Vm, 'state' | 'monthly_price'>) => string>>> = {
  stopVm: ({ monthly_price: price }) => `It no longer costs ${perDay(unitsOf(price))} EUR net a day until it is started.`,
  startVm: ({ monthly_price: price }) => `It costs ${perDay(unitsOf(price))} EUR net a day from its start on.`,
  removeVm: ({ state, monthly_price: price }) =>
    state === 'running' ? `It no longer costs ${perDay(unitsOf(price))} EUR net a day.` : 'It is stopped, so the bill stays as it is.',
  setVmAbuseStatus: ({ state, monthly_price: price }) =>
    state === 'running'
      ? `Blocked, it is stopped and still costs ${perDay(unitsOf(price))} EUR net a day.`
      : 'It is stopped, and nothing is billed.',
};

function perDay(monthly: bigint): string {
  return grouped(decimalOf(monthly / DAYS_OF_A_PRICE, CENTS));
}

function Sentence({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <p aria-live="polite">{text}</p>;
}
