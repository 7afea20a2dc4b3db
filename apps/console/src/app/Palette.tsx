import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { listAccounts } from '@reseller/operator-client';
import type { OperationId } from '@reseller/operator-client';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent as InputKeyEvent } from 'react';
import { useLocation } from 'wouter';

import { client } from '../api/client.ts';
import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { useAccounts } from '../ui/AccountName.tsx';
import { useOperation } from '../ui/OperationDialog.tsx';
import { mayUse, useSession } from './session.ts';
import type { View } from './views.tsx';

/** The actions that are shown before anything is typed. */
const COMMANDS: readonly OperationId[] = [
  'advanceClock',
  'createFault',
  'createSnapshot',
  'resetSandbox',
  'createAccount',
  'createIsolatedAccount',
  'recordPayment',
  'createSale',
  'verifyOtp',
  'createOperatorToken',
];
const WITHOUT_FORM: ReadonlySet<string> = new Set(['createSession', 'endSession']);
/** The actions that are found by name. A form asks for the resource, and one that changes what has a version needs it before. */
const ACTIONS: readonly OperationId[] = Object.keys(operations)
  .filter(isOperation)
  .filter((id) => {
    const { method, mayOnlyCreate, versionedBy } = operations[id];
    return method !== 'GET' && !WITHOUT_FORM.has(id) && (mayOnlyCreate || !versionedBy?.path.includes('{'));
  });
const MOST_ACCOUNTS = 500;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface Item {
  readonly value: string;
  readonly label: string;
  readonly kind: 'Page' | 'Action' | 'Account' | 'VM' | 'Domain' | 'Invoice' | 'Address' | 'Request';
  readonly run: () => void;
}

/** Everything by name: pages, accounts and actions, VMs, domains, invoices, addresses and requests. */
export function Palette({ views }: { readonly views: readonly View[] }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    }
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="button palette-trigger">
        <span>Go to</span> <kbd className="wide-only">Ctrl K</kbd>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" aria-label="Go to">
          <Choices views={views} onDone={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Choices({ views, onDone }: { readonly views: readonly View[]; readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const { contains } = Autocomplete.useFilter();
  const all = useItems(views, text.trim());
  const words = text.split(/\s+/).filter((word) => word !== '');
  const items = all.filter((item) => words.every((word) => contains(item, word, nameOf)));
  const highlighted = useRef<Item>(undefined);
  function run(item: Item): void {
    onDone();
    item.run();
  }
  // The list can lose its highlight while its items change. Enter runs what the list shows first.
  function runOnEnter(event: InputKeyEvent): void {
    if (event.key !== 'Enter') return;
    const chosen = items.find(({ value }) => value === highlighted.current?.value) ?? items[0];
    event.preventDefault();
    event.stopPropagation();
    if (chosen !== undefined) run(chosen);
  }
  return (
    <Autocomplete.Root
      open
      inline
      value={text}
      onValueChange={setText}
      items={items}
      filter={null}
      autoHighlight="always"
      keepHighlight
      onItemHighlighted={(item) => {
        highlighted.current = item;
      }}
      itemToStringValue={nameOf}
    >
      <Autocomplete.Input
        autoFocus
        onKeyDownCapture={runOnEnter}
        className="palette-input"
        aria-label="Page, account, action, VM, domain, invoice, address or request ID"
        placeholder="Page, account, action, VM, domain, invoice, address or request ID"
      />
      <Dialog.Close className="hidden">Close</Dialog.Close>
      <Autocomplete.Empty className="palette-empty">Nothing has this name.</Autocomplete.Empty>
      <Autocomplete.List className="palette-list">
        {(item: Item) => (
          <Autocomplete.Item key={item.value} value={item} className="palette-item" onClick={() => run(item)}>
            <span className="ellipsis">{item.label}</span>
            <span className="muted">{item.kind}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

function nameOf({ label, kind }: Item): string {
  return `${label} ${kind}`;
}

/** What a text can name without a search: a VM, a domain, an invoice, a request, or the account that has an address. */
function directItems(text: string, navigate: (path: string) => void): Item[] {
  function at(kind: Item['kind'], path: string): Item {
    return { value: path, label: text, kind, run: () => navigate(path) };
  }
  if (/^\d{5}$/.test(text)) return [at('VM', `/vms/${text}`)];
  if (/^[\da-f]*[.:][\da-f.:]*[.:][\da-f.:]*$/i.test(text)) return [{ ...at('Address', text), run: () => void openOwner(text, navigate) }];
  if (/^[a-z\d-]+(\.[a-z\d-]+)+$/i.test(text)) return [at('Domain', `/domains/${text.toLowerCase()}`)];
  if (UUID.test(text)) return [at('Request', `/?search&request_id=${text.toLowerCase()}`)];
  return /^[A-Z]+-\d+$/i.test(text) ? [at('Invoice', `/invoices/${text.toUpperCase()}`)] : [];
}

/** Opens the account that has an IP address, or the list of accounts if none has it. */
async function openOwner(address: string, navigate: (path: string) => void): Promise<void> {
  const { items } = await listAccounts({ client, query: { address } });
  navigate(items[0] === undefined ? '/accounts' : `/accounts/${items[0].id}`);
}

function useItems(views: readonly View[], text: string): Item[] {
  const [, navigate] = useLocation();
  const session = useSession();
  const open = useOperation();
  const { rows } = useAccounts();
  return useMemo(
    () => [
      ...directItems(text, navigate),
      ...views.map(({ path, title }): Item => ({ value: path, label: title, kind: 'Page', run: () => navigate(path) })),
      ...(text === '' ? COMMANDS : ACTIONS)
        .filter((id) => mayUse(session, id))
        .map((id): Item => ({
          value: id,
          label: operations[id].summary,
          kind: 'Action',
          run: () => open({ id }),
        })),
      ...rows
        .slice(0, MOST_ACCOUNTS)
        .map(({ id, name }): Item => ({ value: id, label: name, kind: 'Account', run: () => navigate(`/accounts/${id}`) })),
    ],
    [views, text, session, rows, navigate, open],
  );
}
