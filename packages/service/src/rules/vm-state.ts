/** The states of a VM (the specification does not show them; they are our choice). */

/**
 * `reserved` until the hypervisor has delivered it, and `installing` while a task of the hypervisor delivers it. A `stopped` VM keeps its room
 * and addresses and is not billed.
 */
export type VmState = 'reserved' | 'installing' | 'running' | 'stopped' | 'removed';
export type VmEvent =
  | 'resize'
  | 'restart-billing'
  | 'restart'
  | 'eject'
  | 'reset-password'
  | 'backup'
  | 'restore'
  | 'stop'
  | 'start'
  | 'remove';

const transitions: Readonly<Record<VmState, Readonly<Partial<Record<VmEvent, VmState>>>>> = {
  reserved: {},
  installing: {},
  running: {
    resize: 'running',
    'restart-billing': 'running',
    restart: 'running',
    eject: 'running',
    'reset-password': 'running',
    backup: 'running',
    restore: 'running',
    stop: 'stopped',
    remove: 'removed',
  },
  stopped: { resize: 'stopped', eject: 'stopped', backup: 'stopped', restore: 'stopped', start: 'running', remove: 'removed' },
  removed: {},
};

/** The state of a VM after an event. Undefined if the state does not allow the event. */
export function vmStateAfter(state: VmState, event: VmEvent): VmState | undefined {
  return transitions[state][event];
}

/** The states that allow an event. */
export function vmStatesBefore(event: VmEvent): VmState[] {
  return Object.keys(transitions).filter((state): state is VmState => isVmState(state) && vmStateAfter(state, event) !== undefined);
}

export function isVmState(text: string): text is VmState {
  return Object.hasOwn(transitions, text);
}
