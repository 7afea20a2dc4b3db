/** The time that the simulated infrastructure of a sandbox takes, so that clients can test how they wait. */
import type { StartedTask, TaskState } from '@reseller/adapters';

import type { Ports } from '../ports/ports.ts';
import type { Clock } from '../ports/system.ts';

/** What can take time. */
export const DELAYED = ['install', 'start', 'stop', 'resize', 'backup', 'remove', 'domain'] as const;

/** Milliseconds, by the kind of work. A kind that is missing takes no time. */
export type Delays = Readonly<Partial<Record<(typeof DELAYED)[number], number>>>;

/** Makes the calls of the hypervisor and the registrar start tasks, which end after their delay by the clock of the sandbox. */
export function withDelays(ports: Ports, delays: Delays = {}): Ports {
  const { clock, hypervisor, registrar } = ports;
  /** Does the work immediately, and reports its end later. */
  async function delayed<End>(what: keyof Delays, work: Promise<End>): Promise<End | StartedTask> {
    const end = await work;
    const delay = delays[what] ?? 0;
    // A refusal has started nothing.
    if (delay === 0 || end === 'taken' || end === 'refused') return end;
    return { task: `delay/${clock.now()}/${delay}` };
  }
  if (Object.values(delays).every((delay) => delay === 0)) return ports;
  const { backups } = hypervisor;
  return {
    ...ports,
    hypervisor: replacing(hypervisor, {
      create: (order, token) => delayed('install', hypervisor.create(order, token)),
      reinstall: (installation, token) => delayed('install', hypervisor.reinstall(installation, token)),
      start: (vmId, token) => delayed('start', hypervisor.start(vmId, token)),
      restart: (vmId, token) => delayed('start', hypervisor.restart(vmId, token)),
      stop: (vmId, token) => delayed('stop', hypervisor.stop(vmId, token)),
      resize: (size, token) => delayed('resize', hypervisor.resize(size, token)),
      remove: (vmId, token) => delayed('remove', hypervisor.remove(vmId, token)),
      ...(backups && {
        backups: {
          create: (vmId, backup, token) => delayed('backup', backups.create(vmId, backup, token)),
          restore: (vmId, backup, token) => delayed('backup', backups.restore(vmId, backup, token)),
          remove: (vmId, backup, token) => delayed('backup', backups.remove(vmId, backup, token)),
        },
      }),
      task: async (task) => stateOfDelay(task, clock),
    }),
    registrar: replacing(registrar, {
      register: (order, token) => delayed('domain', registrar.register(order, token)),
      transfer: (order, authcode, token) => delayed('domain', registrar.transfer(order, authcode, token)),
      task: async (task) => stateOfDelay(task, clock),
    }),
  };
}

/** A port with some other functions. The remaining members are called on the port itself, which may be an object of a class. */
function replacing<Port extends object>(port: Port, functions: Partial<Port>): Port {
  const front: Port = Object.create(port);
  return new Proxy(front, {
    get(_front, name) {
      const replaced: unknown = Reflect.get(functions, name);
      if (replaced !== undefined) return replaced;
      const value: unknown = Reflect.get(port, name, port);
      return typeof value === 'function' ? (...given: unknown[]): unknown => Reflect.apply(value, port, given) : value;
    },
  });
}

/** The identifier has everything, so a task survives a restart and ends on every instance. */
function stateOfDelay(task: string, clock: Clock): TaskState {
  const [, started = 0, delay = 1] = task.split('/').map(Number);
  const percentage = Math.max(0, Math.floor(((clock.now() - started) / delay) * 100));
  return percentage >= 100 ? { status: 'succeeded' } : { status: 'running', percentage };
}
