import { errorText } from '@reseller/contract/is-error';

import { startSite } from './server.ts';

try {
  const site = await startSite(portFrom(process.env['DOCS_PORT'], 4030));
  process.stdout.write(`Docs: ${site.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void site.close());
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 1;
}

function portFrom(text: string | undefined, standard: number): number {
  if (text === undefined || text === '') return standard;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new Error(`DOCS_PORT is '${text}'. It must be a whole number from 0 to 65535, where 0 picks a free port.`);
  }
  return port;
}
