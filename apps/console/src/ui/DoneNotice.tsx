import type { OperationId } from '@reseller/operator-client';
import { Link } from 'wouter';

import { operations } from '../document/operations.data.ts';
import { Button } from './controls.tsx';
import type { Done } from './OperationForm.tsx';
import { visible } from './visible.ts';

/** The response of a request, with the parameters of its path. */
interface Made {
  readonly id?: string;
  readonly account?: { readonly id: string };
  readonly invoice_id?: string;
  readonly vm_id?: string;
  readonly domain?: string;
  readonly hostsystem?: string;
  readonly tld?: string;
}

/** The page of what operations made or changed. Other operations have none. */
const PAGES: readonly (readonly [readonly OperationId[], (made: Made) => string | undefined])[] = [
  [['createAccount'], ({ id }) => id && `/accounts/${id}`],
  [['createIsolatedAccount'], ({ account }) => account && `/accounts/${account.id}`],
  [['orderDedicatedServer', 'completeDedicatedSetup'], ({ id }) => id && `/servers/${id}`],
  [['recordPayment', 'recordRefund', 'reversePayment'], () => '/payments'],
  [['createCreditNote', 'markInvoicePaid', 'cancelInvoice'], ({ invoice_id: id }) => id && `/invoices/${encodeURIComponent(id)}`],
  [['startVm', 'stopVm', 'resizeVm', 'restartVmBilling', 'setVmAbuseStatus', 'adoptVm'], ({ vm_id: id }) => id && `/vms/${id}`],
  [['terminateDomain'], ({ domain }) => domain && `/domains/${encodeURIComponent(domain)}`],
  [['defineHostSystem', 'scheduleHostSystemPrices'], ({ hostsystem }) => hostsystem && `/nodes/${hostsystem}`],
  [['setTldPrice', 'scheduleTldPrices'], ({ tld }) => tld && `/catalogue/${tld}`],
];

/** Says what the last request did, and links to what it made or changed. */
export function DoneNotice({ done, onClose }: { readonly done: Done | null; readonly onClose: () => void }) {
  const href = done === null ? undefined : pageOf(done);
  return (
    <div role="status">
      {done !== null && (
        <div className="done">
          <span>
            Done: {operations[done.id].summary}. {href !== undefined && <Link href={href}>Open {nameOf(done)}</Link>}
          </span>
          <Button kind="quiet" onClick={onClose} aria-label="Close this notice">
            ×
          </Button>
        </div>
      )}
    </div>
  );
}

function pageOf({ id, path, response }: Done): string | undefined {
  const made: Made = { ...Object(response), ...path };
  return PAGES.find(([operationIds]) => operationIds.includes(id))?.[1](made);
}

/** How the response calls what was made. */
function nameOf({ path, response }: Done): string {
  const { name, number, displayname } = Object(response);
  const known = [number, displayname, name, ...Object.values(path)].find((text) => typeof text === 'string' && text !== '');
  return typeof known === 'string' ? visible(known) : 'it';
}
