import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import type { Statement } from '../prepared.ts';
import { isCollision } from './errors.ts';
import { Pipeline } from './pipeline.ts';
import type { Result } from './pipeline.ts';

/** Fails after a delay, so that messages are sent behind it. */
const FAIL_LATER: Statement = { text: 'select 1 / (length(pg_sleep(0.3)::text)) as never', values: [] };
const READ: Statement = { text: 'select 7 as seven', values: [] };

/** Sends messages on one connection. Each is written at once, and the driver learns of it when the one before has ended. */
async function connection() {
  const client = new Client({ connectionString: await newDatabase() });
  await client.connect();
  onTestFinished(() => client.end());
  const sent: Pipeline[] = [];
  function next(): void {
    sent.shift();
    if (sent[0]) client.query(sent[0]);
  }
  return (...statements: Statement[]): Promise<readonly Result[]> => {
    const pipeline = new Pipeline(statements, next);
    pipeline.write(client.connection);
    if (sent.push(pipeline) === 1) client.query(pipeline);
    return pipeline.results;
  };
}

test('reads the columns of a statement that an earlier message has prepared and a failing one could not prepare again', async () => {
  const send = await connection();
  const first = send(READ);
  // It prepares the statement too, because it is sent before the first message has returned.
  const failing = send(FAIL_LATER, READ);
  failing.catch(() => {});
  expect((await first)[0]?.rows).toEqual([{ seven: 7 }]);
  const behind = send(READ);
  await expect(failing).rejects.toThrow('division by zero');
  expect((await behind)[0]?.rows).toEqual([{ seven: 7 }]);
  expect((await send(READ))[0]?.rows).toEqual([{ seven: 7 }]);
});

test('asks for a repetition when a newer version has added a column to the rows of a cursor, and reads it then', async () => {
  const url = await newDatabase();
  const [client, newer] = [new Client({ connectionString: url }), new Client({ connectionString: url })] as const;
  for (const each of [client, newer]) {
    await each.connect();
    onTestFinished(() => each.end());
  }
  await newer.query('create table numbers (one integer); insert into numbers values (1)');
  async function run(text: string): Promise<Result | undefined> {
    const pipeline = new Pipeline([{ text, values: [] }]);
    client.query(pipeline);
    return (await pipeline.results)[0];
  }
  async function readByCursor(): Promise<unknown> {
    await run('begin');
    await run('declare rows no scroll cursor for select * from numbers');
    const outcome = await run('fetch 1 from rows').then(
      (fetched) => fetched?.rows,
      (error: unknown) => error,
    );
    await run('rollback');
    return outcome;
  }
  expect(await readByCursor()).toEqual([{ one: 1 }]);
  await newer.query('alter table numbers add column two integer not null default 2');
  expect(isCollision(await readByCursor())).toBe(true);
  expect(await readByCursor()).toEqual([{ one: 1, two: 2 }]);
});
