import { parseDocument, readOperations } from '@reseller/contract';
import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';

test.each([
  { extension: true, has: true },
  { extension: false, has: false },
])('a service with the extension $extension serves its own document without a key', async ({ extension, has }) => {
  const { baseUrl } = await startService({ extension });
  const response = await fetch(`${baseUrl}/openapi.json`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const document = parseDocument(await response.json());
  expect(document).toMatchObject({ servers: [{ url: baseUrl, description: 'Sandbox' }] });
  expect(readOperations(document).some(({ id }) => id === 'listVms')).toBe(has);
});
