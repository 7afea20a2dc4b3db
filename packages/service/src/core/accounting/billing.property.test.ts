/** Random purchases, changes, payments and months. After every step, each figure of the API equals that of a simple billing model. */
import { expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { billingActions, simulate } from '../../../test/simulator/runner.ts';

/** Each action occurs in five runs. */
const RUNS = amountOf('PROPERTY_RUNS', { usual: 2, deep: 40 });
const STEPS = 40;

test.each(Array.from({ length: RUNS }, (_, index) => index + 1))('random months, seed %i', async (seed) => {
  const replay = `PROPERTY_RUNS=${seed} npx -y pnpm@12 exec vitest run --config .config/vitest.config.ts billing.property -t 'seed ${seed}$'`;
  const sim = await simulate({ seed, engine: 'sqlite', steps: STEPS, actions: billingActions, creditLimit: '1000000.00', replay });
  expect(sim.steps).toHaveLength(STEPS + 1);
});
