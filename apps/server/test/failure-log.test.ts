import { setTimeout as wait } from 'node:timers/promises';

import { pino } from 'pino';
import { expect, test } from 'vitest';

import { failureLog } from '../src/failure-log.ts';
import { withoutRepeatedStacks } from '../src/log.ts';

interface Line {
  readonly level: number;
  readonly failures?: number;
  readonly err?: { readonly message: string; readonly stack?: string; readonly cause?: { readonly stack?: string } };
}

function startLog(stackEveryMs?: number) {
  const lines: Line[] = [];
  const logger = pino(
    { serializers: { err: withoutRepeatedStacks(stackEveryMs) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  return { lines, logger };
}

test.each([
  { noteEveryMs: 0, failures: [1, 2, 3] },
  { noteEveryMs: 3_600_000, failures: [1] },
])(
  'three failures in a row, with a note every $noteEveryMs ms at most, are $failures in the log, and their end once',
  ({ noteEveryMs, failures }) => {
    const { lines, logger } = startLog();
    const log = failureLog(logger, 'it failed', noteEveryMs);
    log.ended();
    expect(lines).toEqual([]);
    for (let count = 1; count <= 3; count++) log.failed(new Error('away'));
    expect([lines.map((line) => line.failures), log.areOpen()]).toEqual([failures, true]);
    log.ended();
    log.ended();
    expect(lines.slice(failures.length)).toMatchObject([{ level: 30, failures: 3 }]);
    log.failed(new Error('away again'));
    expect(lines.at(-1)).toMatchObject({ level: 50, failures: 1 });
  },
);

test('a failure that goes on is in the log again after the time', async () => {
  const { lines, logger } = startLog();
  const log = failureLog(logger, 'it failed', 20);
  log.failed(new Error('away'));
  await expect.poll(() => (log.failed(new Error('away')), lines.length), { interval: 5 }).toBe(2);
});

test('a stack is in the log once, whatever its message, also that of a cause; the message always is', () => {
  const { lines, logger } = startLog();
  const failure = (name: string) => new Error(`${name} is away`, { cause: new Error('refused') });
  for (const name of ['one', 'two', 'three']) logger.error({ err: failure(name) });
  expect(lines.map(({ err }) => err?.stack !== undefined)).toEqual([true, false, false]);
  const plain = {
    type: 'Error',
    message: 'as the service logs it',
    stack: 'Error: x\n    at somewhere.ts:1:1',
    cause: { stack: 'Error: y\n    at elsewhere.ts:1:1' },
  };
  logger.error({ err: plain });
  logger.error({ err: { ...plain, stack: 'Error: z\n    at somewhere.ts:1:1' } });
  expect(lines.slice(3).map(({ err }) => [err?.message, err?.stack !== undefined, err?.cause?.stack !== undefined])).toEqual([
    [plain.message, true, true],
    [plain.message, false, false],
  ]);
});

test('1,000 stacks are known, so that a service with ever new ones does not keep them all', () => {
  const { lines, logger } = startLog();
  const log = (file: number) => logger.error({ err: { type: 'Error', message: 'away', stack: `Error: away\n    at ${file}.ts:1:1` } });
  for (let file = 1; file <= 1_000; file++) log(file);
  log(1);
  expect(lines.at(-1)?.err?.stack).toBeUndefined();
  log(1_001);
  log(1);
  expect(lines.at(-1)?.err?.stack).toBeDefined();
});

test('a stack is in the log again after the time', async () => {
  const { lines, logger } = startLog(5);
  const failure = new Error('away');
  logger.error({ err: failure });
  await wait(6);
  logger.error({ err: failure });
  expect(lines.map(({ err }) => err?.stack !== undefined)).toEqual([true, true]);
});
