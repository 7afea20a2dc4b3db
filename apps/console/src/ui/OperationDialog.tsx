/** One dialog for every operation that changes something. Its form, texts and rules are those of the operator document. */
import { Dialog } from '@base-ui/react/dialog';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, lazy, Suspense, useCallback, useContext, useRef, useState } from 'react';
import type { ReactNode } from 'react';

import { useFeedControl } from '../app/feed.tsx';
import { operations } from '../document/operations.data.ts';
import { DoneNotice } from './DoneNotice.tsx';
import { firstControl } from './firstControl.ts';
import type { Done, Opened } from './OperationForm.tsx';

const OperationForm = lazy(async () => ({ default: (await import('./OperationForm.tsx')).OperationForm }));

const OperationContext = createContext<(opened: Opened) => void>(() => {});

/** Opens the dialog of an operation. */
export function useOperation(): (opened: Opened) => void {
  return useContext(OperationContext);
}

export function OperationProvider({ children }: { readonly children: ReactNode }) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const popup = useRef<HTMLDivElement>(null);
  const open = useCallback((next: Opened) => {
    setDone(null);
    setOpened(next);
  }, []);
  /** A secret is shown once, so the person says that it may be lost. */
  function close(): void {
    const isUncopied = Boolean(popup.current?.querySelector('[data-uncopied]'));
    if (!isUncopied || confirm('The secret was not copied, and is never shown again. Close anyway?')) setOpened(null);
  }
  return (
    <OperationContext value={open}>
      {children}
      <Dialog.Root open={opened !== null} onOpenChange={(isOpen) => !isOpen && close()}>
        <Dialog.Portal>
          <Dialog.Backdrop className="backdrop" />
          <Dialog.Popup
            ref={popup}
            className="dialog"
            aria-label={opened === null ? undefined : operations[opened.id].summary}
            initialFocus={() => firstControl(popup.current) ?? true}
          >
            {opened !== null && <Content key={opened.id + JSON.stringify(opened.path)} opened={opened} onDone={setDone} onClose={close} />}
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <DoneNotice done={done} onClose={() => setDone(null)} />
    </OperationContext>
  );
}

interface ContentProps {
  readonly opened: Opened;
  readonly onDone: (done: Done) => void;
  readonly onClose: () => void;
}

function Content({ opened, onDone, onClose }: ContentProps) {
  const queryClient = useQueryClient();
  const feed = useFeedControl();
  function refresh(done: Done): void {
    onDone(done);
    // These replace what the request logs contain.
    if (opened.id === 'resetSandbox' || opened.id === 'restoreSnapshot') feed?.clear();
    else feed?.poll();
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  }
  return (
    <Suspense fallback={<p className="muted">Loading</p>}>
      <OperationForm opened={opened} onDone={refresh} onClose={onClose} />
    </Suspense>
  );
}
