import { expect, test } from 'vitest';

import { handleOf, register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';
import { resellerApi } from '../../../test/http-client.ts';
import type { OperationId } from '../operation.ts';

const forms = (['registerDomain', 'setDomainNameservers', 'editDomainDns', 'createHandle'] as const).flatMap((id: OperationId) =>
  Object.entries(resellerApi.operation(id).form?.examples ?? {}).map(([name, { value }]) => [id, name, value] as const),
);

test.each(forms)('%s carries out the example %s of the document', async (operation, _name, example) => {
  const service = await startService();
  const form: Record<string, unknown> = Object.fromEntries(Object.entries(example ?? {}));
  if (operation === 'registerDomain') form['handle'] = await handleOf(service);
  else await register(service, 'reseller-customer.net');
  const { status } = await service.call(operation, { path: { domain: 'reseller-customer.net' }, form });
  expect(status).toBe(200);
});
