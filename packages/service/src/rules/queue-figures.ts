/** What waits in a queue. */
export interface QueueFigures {
  readonly waiting: number;
  readonly failed: number;
  /** How long the oldest waiting item has been due, in milliseconds. Undefined if none waits. */
  readonly oldestMs: number | undefined;
}
