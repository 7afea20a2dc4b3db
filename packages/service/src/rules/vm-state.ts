/** The states of a VM and what changes them (the specification does not show them; they are our choice). */

/** `reserved` while it is being delivered; `stopped` VMs keep their room and addresses and are not billed. */
export type VmState = 'reserved' | 'running' | 'stopped' | 'removed';
export type VmEvent = 'resize' | 'restart' | 'stop' | 'start' | 'remove';

const transitions: Readonly<Record<VmState, Readonly<Partial<Record<VmEvent, VmState>>>>> = {
  reserved: {},
  running: { resize: 'running', restart: 'running', stop: 'stopped', remove: 'removed' },
  stopped: { resize: 'stopped', start: 'running', remove: 'removed' },
  removed: {},
};

/** The state that an event brings a VM to; undefined where it is not possible. */
export function vmStateAfter(state: VmState, event: VmEvent): VmState | undefined {
  return transitions[state][event];
}

export function isVmState(text: string): text is VmState {
  return Object.hasOwn(transitions, text);
}
