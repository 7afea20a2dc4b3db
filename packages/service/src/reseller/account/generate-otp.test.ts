import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';
import { hashOfOtp } from '../../rules/credentials.ts';

test('returns a code of digits, with null as requestID', async () => {
  const service = await startService();
  const { status, body } = await service.call('generateOtp');
  expect(status).toBe(200);
  expect(body.requestID).toBeNull();
  expect(body.data.otp_code).toMatch(/^\d{8}$/);
  expect(body.data.note).toContain('10 minutes');
});

test('replaces an older code by a newer one, and stores neither in plain text', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  const older = (await service.call('generateOtp', { apiKey })).body.data.otp_code;
  const newer = (await service.call('generateOtp', { apiKey })).body.data.otp_code;
  const rows = await service.store.read((db) => db.selectFrom('otps').selectAll().execute());
  expect(rows).toEqual([{ account_id: id, hash: hashOfOtp(newer, 'x'.repeat(32)), expires: service.clock.now() + 600_000, used: 0 }]);
  const log = await service.store.read((db) => db.selectFrom('request_log').selectAll().execute());
  expect(JSON.stringify(log)).not.toContain(older);
  expect(JSON.stringify(log)).not.toContain(newer);
});

test('refuses a form, because the operation has none', async () => {
  const service = await startService();
  expect(await service.call('generateOtp', { form: { digits: 6 } })).toMatchObject({
    status: 400,
    body: { type: 'malformed_request', requestID: null },
  });
});
