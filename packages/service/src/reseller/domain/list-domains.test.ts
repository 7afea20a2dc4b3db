import { expect, test } from 'vitest';

import { register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

test('lists only the domains of the account', async () => {
  const service = await startService();
  expect((await service.call('listDomains')).body.data).toEqual({ list: [] });
  const { apiKey } = await service.account();
  await register(service, 'reseller-customer.net');
  await register(service, 'bücher.de');
  await register(service, 'theirs.net', apiKey);
  expect((await service.call('listDomains')).body.data).toEqual({ list: ['reseller-customer.net', 'xn--bcher-kva.de'] });
  expect((await service.call('listDomains', { apiKey })).body.data).toEqual({ list: ['theirs.net'] });
});
