import type { DoneOrStarted, FencingToken, StartedTask, TaskState, VmOrder } from '../../src/index.ts';
import { TestHypervisor } from './hypervisor.ts';

/** A hypervisor that creates and removes VMs in tasks, which go on until a test ends them. */
export class StartingHypervisor extends TestHypervisor {
  /** By identifier. The creation of VM 48213 is `create/48213`. */
  readonly tasks = new Map<string, TaskState>();
  /** Thrown when the service asks for the state of a task. */
  failingToSay: Error | undefined;
  /** Whether removals are tasks, too. */
  removesInTasks = false;

  override async create(order: VmOrder, token: FencingToken): Promise<DoneOrStarted> {
    await super.create(order, token);
    return this.#start(`create/${order.vmId}`);
  }
  override async remove(vmId: number, token: FencingToken): Promise<DoneOrStarted> {
    await super.remove(vmId, token);
    return this.removesInTasks ? this.#start(`remove/${vmId}`) : undefined;
  }
  async task(task: string): Promise<TaskState> {
    if (this.failingToSay) throw this.failingToSay;
    const state = this.tasks.get(task);
    if (!state) throw new Error(`There is no task ${task}.`);
    return state;
  }
  #start(task: string): StartedTask {
    this.tasks.set(task, { status: 'running', percentage: null });
    return { task };
  }
}
