/** The service as a process. */
import { isError } from '@reseller/contract/is-error';

import { ConfigurationError, readConfiguration, unknownVariables } from './configuration.ts';
import type { Configuration } from './configuration.ts';

// The option of `start` and of the packed sandbox.
if (process.argv.includes('--real')) process.env['RESELLER_HYPERVISOR'] ||= 'qemu';
for (const name of unknownVariables(process.env)) {
  process.stderr.write(
    `Warning: ${name} is not a variable of the service, so it has no effect. apps/server/README.md lists the variables.\n`,
  );
}
try {
  await run(readConfiguration(process.env));
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function run(configuration: Configuration): Promise<void> {
  // Loading the service takes ten times as long as finding a mistake in the configuration.
  const { explanation, start } = await import('./start.ts');
  try {
    await start(configuration);
  } catch (error) {
    const line = explanation(error);
    process.stderr.write(
      line === undefined
        ? `The service could not start: ${isError(error) ? (error.stack ?? error.message) : String(error)}\n`
        : `${line}\n`,
    );
    process.exitCode = 1;
  }
}
