import { errorText } from '@reseller/contract/is-error';

import { docsPort } from './docs-port.ts';
import { startSite } from './server.ts';

try {
  const site = await startSite(docsPort());
  process.stdout.write(`Docs: ${site.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void site.close());
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 1;
}
