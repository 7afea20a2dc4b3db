import { expect, test } from 'vitest';

import { sharedService } from '../../../test/harness.ts';
import { resellerApi } from '../../../test/http-client.ts';
import { apiOperations } from './api.ts';

// Refused keys are counted by address, so each operation is called from its own.
const customer = sharedService({ trustedProxies: ['127.0.0.1'] });

test.each(apiOperations.map(({ id }, index) => [id, `192.0.2.${index}`] as const))(
  '%s: responds with 401 to a missing, unknown or revoked key',
  async (id, address) => {
    const service = await customer();
    const { method, path } = resellerApi.operation(id);
    const url = path.replaceAll(/\{\w+\}/g, '12345');
    const revoked = await service.account();
    await service.store.commit(({ db }) => db.updateTable('api_keys').set({ revoked: 1 }).where('account_id', '=', revoked.id).execute());
    for (const key of [undefined, '', 'rsk_sandbox_unknown', `${service.apiKey} `.repeat(2), 'x'.repeat(10_000), revoked.apiKey]) {
      const { status, body } = await service.send(url, {
        method,
        headers: { 'x-forwarded-for': address, ...(key === undefined ? {} : { 'x-service-apikey': key }) },
      });
      expect(status).toBe(401);
      expect(body.type).toBe('unauthorized');
      if (key) expect(body.message).not.toContain(key);
    }
  },
);

test('stores only the hash of a key', async () => {
  const service = await customer();
  const rows = await service.store.read((db) => db.selectFrom('api_keys').selectAll().execute());
  expect(JSON.stringify(rows)).not.toContain(service.apiKey);
});
