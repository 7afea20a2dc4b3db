/** Raises the fencing tokens of a restored store; OPERATIONS.md, "Restore". */
import { raiseFencingTokens } from '@reseller/service';

import { counted, optionsOf, runCommand, UsageError } from './command-line.ts';
import { readConfiguration } from './configuration.ts';
import { openStore } from './open-store.ts';

const DEFAULT_RAISE = 1_000_000;
const USAGE = `Usage: reseller-server raise-tokens [--by NUMBER]

  --by  how much each token rises; default: ${DEFAULT_RAISE}

The infrastructure rejects calls with tokens below the newest one that it knows. A restored store has older tokens. Stop the service first.
`;

await runCommand(async () => {
  const { by = String(DEFAULT_RAISE) } = optionsOf(['by'], USAGE);
  if (!/^[1-9]\d{0,12}$/.test(by)) throw new UsageError(`--by is '${by}'. Give a whole number from 1 to 9999999999999.`);
  const store = await openStore(readConfiguration(process.env));
  try {
    return `Raised ${counted(await raiseFencingTokens(store, Number(by)), 'fencing token')} by ${by}.\n`;
  } finally {
    await store.close();
  }
});
