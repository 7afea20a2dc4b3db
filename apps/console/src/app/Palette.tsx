import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import type { OperationId } from '@reseller/operator-client';
import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';

import { operations } from '../document/operations.data.ts';
import { useAccounts } from '../ui/AccountName.tsx';
import { useOperation } from '../ui/OperationDialog.tsx';
import { mayUse, useSession } from './session.ts';
import type { View } from './views.tsx';

/** Operations that need no resource to begin with. */
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
const MOST_ACCOUNTS = 500;

interface Item {
  readonly value: string;
  readonly label: string;
  readonly kind: 'Page' | 'Action' | 'Account';
  readonly run: () => void;
}

/** Everything by name: pages, accounts and actions. */
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
  const items = useItems(views);
  return (
    <Autocomplete.Root
      open
      inline
      items={items}
      autoHighlight="always"
      keepHighlight
      itemToStringValue={({ label, kind }: Item) => `${label} ${kind}`}
    >
      <Autocomplete.Input className="palette-input" aria-label="Page, account or action" placeholder="Page, account or action" />
      <Dialog.Close className="hidden">Close</Dialog.Close>
      <Autocomplete.Empty className="palette-empty">Nothing has this name.</Autocomplete.Empty>
      <Autocomplete.List className="palette-list">
        {(item: Item) => (
          <Autocomplete.Item
            key={item.value}
            value={item}
            className="palette-item"
            onClick={() => {
              onDone();
              item.run();
            }}
          >
            <span className="ellipsis">{item.label}</span>
            <span className="muted">{item.kind}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

function useItems(views: readonly View[]): Item[] {
  const [, navigate] = useLocation();
  const session = useSession();
  const open = useOperation();
  const { rows } = useAccounts();
  return useMemo(
    () => [
      ...views.map(({ path, title }): Item => ({ value: path, label: title, kind: 'Page', run: () => navigate(path) })),
      ...COMMANDS.filter((id) => mayUse(session, id)).map((id): Item => ({
        value: id,
        label: operations[id].summary,
        kind: 'Action',
        run: () => open({ id }),
      })),
      ...rows
        .slice(0, MOST_ACCOUNTS)
        .map(({ id, name }): Item => ({ value: id, label: name, kind: 'Account', run: () => navigate(`/accounts/${id}`) })),
    ],
    [views, session, rows, navigate, open],
  );
}
