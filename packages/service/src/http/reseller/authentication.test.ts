import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';
import { resellerApi } from '../../../test/http-client.ts';
import { apiOperations } from './api.ts';

test.each(apiOperations.map(({ id }) => id))('%s: responds with 401 to a missing, unknown or revoked key', async (id) => {
  const service = await startService();
  const { method, path } = resellerApi.operation(id);
  const url = path.replaceAll(/\{\w+\}/g, '12345');
  const revoked = await service.account();
  await service.store.commit(({ db }) => db.updateTable('api_keys').set({ revoked: 1 }).where('account_id', '=', revoked.id).execute());
  for (const key of [undefined, '', 'rsk_sandbox_unknown', `${service.apiKey} `.repeat(2), 'x'.repeat(10_000), revoked.apiKey]) {
    const { status, body } = await service.send(url, { method, headers: key === undefined ? {} : { 'x-service-apikey': key } });
    expect(status).toBe(401);
    expect(body.type).toBe('unauthorized');
    if (key) expect(body.message).not.toContain(key);
  }
});

test('stores only the hash of a key', async () => {
  const service = await startService();
  const rows = await service.store.read((db) => db.selectFrom('api_keys').selectAll().execute());
  expect(JSON.stringify(rows)).not.toContain(service.apiKey);
});
