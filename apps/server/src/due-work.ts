import type { Logger } from 'pino';

const EVERY = 1_000;

/**
 * Does work that falls due, again and again with a pause in between, until it is stopped.
 *
 * @returns A function that stops it, and resolves when what is under way is finished.
 */
export function keepDoing(work: () => Promise<number>, logger: Logger): () => Promise<void> {
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
  let underWay = turn();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return underWay;
  };
}
