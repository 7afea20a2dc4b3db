/** Seals all stored secrets with a new secret; README.md, "Rotating the secret". */
import { errorText } from '@reseller/contract/is-error';
import { reseal, StoreOpenError, StoreUnavailableError, systemClock, systemRandom } from '@reseller/service';

import { counted } from './command-line.ts';
import { ConfigurationError, readConfiguration } from './configuration.ts';
import { invocationOf } from './invocation.ts';
import { secretFrom } from './key-files.ts';
import { openStore } from './open-store.ts';

async function main(): Promise<void> {
  const configuration = readConfiguration(process.env);
  const { dataDirectory, secret, previousSecret } = configuration;
  if (previousSecret === undefined)
    throw new ConfigurationError('RESELLER_SECRET_PREVIOUS is missing. Set it to the secret that the service used so far.');
  const store = await openStore(configuration);
  try {
    const secrets = { secret: secret ?? (await secretFrom(dataDirectory, store)), previousSecret };
    const { authcodes, passwords, userData, webhookSecrets, responses, inSnapshots, openCodes } = await reseal(store, secrets, {
      random: systemRandom,
      now: systemClock.now(),
    });
    process.stdout.write(
      `Sealed with the new secret: ${counted(authcodes, 'auth code')}, ${counted(passwords, 'password')} of dedicated servers, the user data of ${counted(userData, 'VM')}, ${counted(webhookSecrets, 'secret')} of webhooks, ${counted(responses, 'stored response')}, ${counted(inSnapshots, 'value')} in snapshots.\n` +
        `${counted(openCodes, 'open one-time code')} may become invalid. Remove RESELLER_SECRET_PREVIOUS and restart each instance.\n`,
    );
  } finally {
    await store.close();
  }
}

const USAGE = `Usage: ${invocationOf('reseal')}

Encrypts the stored secrets again after their key was replaced. Set RESELLER_SECRET to the new secret and RESELLER_SECRET_PREVIOUS to the one
that the service used so far. With the embedded store, stop the service first.
`;

try {
  if (process.argv.includes('--help')) process.stdout.write(USAGE);
  else await main();
} catch (error) {
  const isExplained = error instanceof ConfigurationError || error instanceof StoreOpenError || error instanceof StoreUnavailableError;
  process.stderr.write(isExplained ? `${error.message}\n` : `Nothing was changed: ${errorText(error)}\n`);
  process.exitCode = 1;
}
