/** The operations that a page offers for a resource. Those that the holder of the session may not use are not shown. */
import { Menu } from '@base-ui/react/menu';

import { mayUse, useSession } from '../app/session.ts';
import { operations } from '../document/operations.data.ts';
import { Button } from './controls.tsx';
import { useOperation } from './OperationDialog.tsx';
import type { Opened } from './OperationForm.tsx';

export interface Action extends Opened {
  /** Default: the summary of the operation. */
  readonly label?: string;
}

export function ActionButton({ label, ...opened }: Action) {
  const open = useOperation();
  const session = useSession();
  if (!mayUse(session, opened.id)) return null;
  return (
    <Button aria-haspopup="dialog" onClick={() => open(opened)}>
      {label ?? operations[opened.id].summary}
    </Button>
  );
}

/** @param of What the actions are for, for screen readers. */
export function ActionMenu({ of, actions }: { readonly of: string; readonly actions: readonly Action[] }) {
  const open = useOperation();
  const session = useSession();
  const allowed = actions.filter(({ id }) => mayUse(session, id));
  if (allowed.length === 0) return null;
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="button quiet menu-trigger" aria-label={`Actions for ${of}`}>
        <span aria-hidden="true">⋯</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4} className="above">
          <Menu.Popup className="menu">
            {allowed.map(({ label, ...opened }) => (
              <Menu.Item
                key={opened.id}
                className={`menu-item ${operations[opened.id].destructive ? 'danger' : ''}`}
                onClick={() => open(opened)}
              >
                {label ?? operations[opened.id].summary}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
