/** The disk of the embedded store does not confirm a write. */
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { startServer, temporaryDirectory } from '../process.ts';
import { tell } from './figures.ts';
import { expectAllKept } from './kept.ts';
import { startLoad } from './load.ts';
import { sqlitePlace } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import { between, randomFrom, ROUNDS, seed } from './random.ts';

const PRELOAD = { NODE_OPTIONS: `--import=${new URL('failing-sync.ts', import.meta.url).href}` };

test(
  `a failed sync under load ends the process with one line and exit code 1, and after the next start the store has the effect of every response, in ${ROUNDS} rounds (FAULT_SEED=${seed})`,
  { tags: 'deep', timeout: TEST_TIMEOUT_MS + ROUNDS * 30_000 },
  async () => {
    const random = randomFrom(seed);
    const place = sqlitePlace(temporaryDirectory());
    let server = await startServer({ ...place.environment(), ...PRELOAD });
    await goToMidMonth(server);
    for (let round = 0; round < ROUNDS; round++) {
      const account = await newAccount(server);
      const prefix = `y${round}-${seed.toString(36)}`;
      const load = startLoad({ instances: [server.baseUrl], account, seed: seed + round * 1_000, callers: 8, prefix });
      await load.responsesReceived(between(random, 1, 100));
      const ended = once(server.process, 'close');
      const failed = performance.now();
      server.process.kill('SIGUSR2');
      const [code] = await ended;
      const took = Math.round(performance.now() - failed);
      expect(code).toBe(1);
      expect(server.logged()).toBe(
        'The disk did not confirm a write. Check the disk, and start the service again. The process ends. (EIO: i/o error, fdatasync)\n',
      );
      await load.stop();
      const responses = load.sent.flatMap((sent) => sent.responses);
      expect(responses.filter(({ status }) => status === 503)).toEqual([]);
      server = await startServer({ ...place.environment(), ...PRELOAD });
      await expectAllKept({ load, place, instance: server.baseUrl });
      tell(`failed sync ${round + 1}: the process ended with code 1 after ${took} ms, and ${responses.length} responses, all kept`);
    }
    await place.expectIntegrity();
  },
);
