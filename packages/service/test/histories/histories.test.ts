import { expect, test } from 'vitest';

import { amountOf } from '../../../../.config/depth.ts';
import { engines } from '../engines.ts';
import { play, shortest } from './history.ts';

const STEPS = amountOf('HISTORY_STEPS', { usual: 25, deep: 60 });
const HISTORIES = amountOf('HISTORIES', { usual: 2, deep: 30 });
const first = Number(process.env['HISTORY_SEED'] ?? 1);
const steps = Array.from({ length: STEPS }, (_, index) => index + 1);
const seeds = Array.from({ length: HISTORIES }, (_, index) => first + index);

test.each(engines.flatMap((engine) => seeds.map((seed) => ({ seed, engine }))))(
  'history $seed costs on $engine what the documents say',
  async ({ seed, engine }) => {
    const history = { seed, engine, steps };
    const facts = await play(history).catch(async (error: unknown) => {
      throw (await shortest(history)) ?? error;
    });
    expect(facts).toBeGreaterThan(STEPS * 10);
  },
);
