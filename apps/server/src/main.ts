/** The service as a process. */
import { parseArgs } from 'node:util';

import { errorText, isError } from '@reseller/contract/is-error';

import { ConfigurationError, readConfiguration, unknownVariables } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { invocationOf } from './invocation.ts';

const USAGE = `Usage: ${invocationOf('start')} [--real]

  --real  each VM is a machine of QEMU on this computer

Runs until Ctrl-C. Environment variables are the settings; apps/server/README.md lists them.
`;

const options = readOptions();
if (options?.help) process.stdout.write(USAGE);
else if (options) {
  if (options.real) process.env['RESELLER_HYPERVISOR'] ||= 'qemu';
  await startConfigured();
}

/** Undefined after an unknown option, which it has reported. */
function readOptions() {
  try {
    return parseArgs({ options: { real: { type: 'boolean' }, help: { type: 'boolean' } } }).values;
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n\n${USAGE}`);
    process.exitCode = 1;
    return undefined;
  }
}

async function startConfigured(): Promise<void> {
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
