/**
 * A change that a system has started and carries out by itself, such as a task of Proxmox, whose identifier is a UPID. A port call returns it
 * in the place of a finished result, and the service asks for its state until it has ended.
 */
export interface StartedTask {
  /**
   * Identifies the task in its system, from any process and also after a restart. At most 500 characters. The adapter chooses them, so they
   * can hold whatever it needs to find the task.
   */
  readonly task: string;
}

/** The end of a port call: the change is done, or the system has started it. */
export type DoneOrStarted = StartedTask | void;

/** The state of a task. Its end stays the same, however often the service asks. */
export type TaskState =
  | {
      readonly status: 'running';
      /** From 0 to 100. Null if the system does not say. */
      readonly percentage: number | null;
    }
  | { readonly status: 'succeeded' }
  | {
      readonly status: 'failed';
      /** For the log. */
      readonly reason: string;
    };
