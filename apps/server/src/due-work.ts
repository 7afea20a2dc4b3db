import type { Logger } from 'pino';

const EVERY = 1_000;

/** Work that is done again and again. */
export interface Repeated {
  /** Settles when it was tried once. */
  readonly firstTurn: Promise<void>;
  /** Resolves when what is under way is finished. */
  stop(): Promise<void>;
}

/** Does work that falls due, again and again with a pause in between, until it is stopped. What fails is tried again. */
export function keepDoing(work: () => Promise<number>, logger: Logger): Repeated {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const turn = async (): Promise<void> => {
    try {
      const done = await work();
      if (done > 0) logger.info({ done }, 'did work that was due');
    } catch (error) {
      logger.error({ err: error }, 'work that is due could not be done; it is tried again');
    }
    if (!stopped) timer = setTimeout(() => (underWay = turn()), EVERY);
  };
  const firstTurn = turn();
  let underWay = firstTurn;
  return {
    firstTurn,
    stop() {
      stopped = true;
      clearTimeout(timer);
      return underWay;
    },
  };
}
