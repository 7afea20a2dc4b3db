import { expect, test, vi } from 'vitest';

import { backgroundWork, singleWork } from './background-work.ts';

interface Piece {
  readonly accountId: string;
  readonly number: number;
}

/** Work of which each piece hangs until a test ends it. */
function hangingWork(places: number, due: Record<string, number>, placesEach?: number) {
  const begun: Piece[] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const errors: unknown[] = [];
  const work = backgroundWork<Piece>({
    places,
    ...(placesEach !== undefined && { placesEach }),
    accounts: async () => Object.keys(due).filter((name) => (due[name] ?? 0) > 0),
    async take(accountId) {
      const left = due[accountId] ?? 0;
      if (left === 0) return undefined;
      due[accountId] = left - 1;
      return { accountId, number: left };
    },
    async perform(piece) {
      begun.push(piece);
      await new Promise<void>((resolve, reject) => ends.push((failure) => (failure ? reject(failure) : resolve())));
    },
    onFailure: (error) => errors.push(error),
  });
  const accounts = () => begun.map(({ accountId }) => accountId).join('');
  return { work, due, errors, accounts, end: (failure?: Error) => ends.shift()?.(failure), begun };
}

test.each([
  [1, 'abca'],
  [2, 'abca'],
  [4, 'abcabca'],
])('with %s places, accounts take turns, however much one has', async (places, expected) => {
  const { work, accounts, end } = hangingWork(places, { a: 100, b: 100, c: 100 });
  work.begin();
  await expect.poll(() => accounts().length).toBe(places);
  for (let ended = 1; places + ended <= expected.length; ended++) {
    end();
    await expect.poll(() => accounts().length).toBe(places + ended);
  }
  expect(accounts()).toBe(expected);
});

test('an account that comes later gets a place within one turn', async () => {
  const { work, due, accounts, end } = hangingWork(2, { a: 100, b: 100 });
  work.begin();
  await expect.poll(() => accounts()).toBe('ab');
  due['z'] = 1;
  work.begin();
  for (let ended = 1; ended <= 3; ended++) {
    end();
    await expect.poll(() => accounts().length).toBe(2 + ended);
  }
  expect(accounts().slice(2)).toContain('z');
});

test('one account has at most half of the places, so another begins at once', async () => {
  const { work, due, accounts } = hangingWork(4, { a: 100 });
  work.begin();
  await expect.poll(() => accounts()).toBe('aa');
  due['b'] = 1;
  work.begin();
  await expect.poll(accounts).toBe('aab');
});

test('work that fails is reported, gives its place free, and stops no other', async () => {
  const { work, errors, accounts, end } = hangingWork(1, { a: 1, b: 1 });
  work.begin();
  await expect.poll(() => accounts()).toBe('a');
  const failure = new Error('The hypervisor is away.');
  end(failure);
  await expect.poll(() => accounts()).toBe('ab');
  end();
  await work.settled();
  expect(errors).toEqual([failure]);
});

test('a store that fails is reported, and the next round looks again', async () => {
  const [errors, done]: [unknown[], string[]] = [[], []];
  const failure = new Error('The store is away.');
  const look = vi.fn<() => Promise<string[]>>(async () => ['a']).mockRejectedValueOnce(failure);
  const left = ['one'];
  const work = backgroundWork<string>({
    places: 1,
    accounts: look,
    take: async () => left.pop(),
    perform: async (item) => void done.push(item),
    onFailure: (error) => errors.push(error),
  });
  work.begin();
  await work.settled();
  expect([errors, done]).toEqual([[failure], []]);
  work.begin();
  await work.settled();
  expect([errors, done]).toEqual([[failure], ['one']]);
});

test('closing waits for what has begun, and begins nothing more', async () => {
  const { work, accounts, end } = hangingWork(1, { a: 5 });
  work.begin();
  await expect.poll(() => accounts()).toBe('a');
  const closed = work.close();
  end();
  await closed;
  work.begin();
  await work.settled();
  expect(accounts()).toBe('a');
});

test('single work runs once for all rounds that have begun it meanwhile', async () => {
  let runs = 0;
  const held = Promise.withResolvers<void>();
  const work = singleWork(
    async () => {
      runs++;
      await held.promise;
    },
    () => {},
  );
  work.begin();
  await expect.poll(() => runs).toBe(1);
  for (let round = 0; round < 3; round++) work.begin();
  held.resolve();
  await work.settled();
  expect(runs).toBe(2);
});
