/** A sandbox with the data of its first start, in this process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createReseller } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import { createClient } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { createService, DEMO_ACCOUNT, issueApiKey, openSqliteStore, seedDemoAccount, seedSandbox, simulatedPorts } from '@reseller/service';
import { pino } from 'pino';

import { oncePerFile, whenEnded } from '../../../packages/service/test/lifetime.ts';
import { newFolder } from './cli.ts';

export interface Sandbox {
  readonly reseller: Reseller;
  readonly operator: Client;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The folder in which the program finds its addresses and keys. */
  readonly dataFolder: string;
  readonly accountId: string;
}

/** The sandbox of the tests of a file. */
export function sandboxOfFile(): () => Promise<Sandbox> {
  return oncePerFile(startSandbox);
}

async function startSandbox(): Promise<Sandbox> {
  const dataFolder = newFolder();
  const [ports, secret, operatorToken] = [simulatedPorts(), 'x'.repeat(32), `rso_${'0'.repeat(64)}`];
  const store = await openSqliteStore(dataFolder);
  await seedSandbox(store, ports);
  await seedDemoAccount(store, { ports, secret });
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'demo', mode: 'sandbox' }));
  const service = await createService({ store, ports, secret, operatorToken, logger: pino({ level: 'silent' }) });
  whenEnded(async () => {
    await service.close();
    await store.close();
  });
  const baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const operatorUrl = await service.operator.listen({ host: '127.0.0.1', port: 0 });
  const files = { 'running.json': JSON.stringify({ baseUrl, operatorUrl }), 'demo-api-key': apiKey, 'operator-token': operatorToken };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dataFolder, name), `${content}\n`, { mode: 0o600 });
  return {
    reseller: createReseller({ baseUrl, apiKey }),
    operator: createClient({ baseUrl: operatorUrl, token: operatorToken }),
    baseUrl,
    apiKey,
    dataFolder,
    accountId: DEMO_ACCOUNT,
  };
}
