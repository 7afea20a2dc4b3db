import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../test/harness.ts';
import { copyVms } from '../../test/large-account.ts';
import { apiOperations } from '../http/reseller/api.ts';

const LIMIT = 65_536;

test.each([
  ['at once', false],
  ['in turns', true],
])('logs a response of 65,536 characters, and only the length of longer data, written %s', async (_, isLong) => {
  const codec = apiOperations.find(({ id }) => id === 'listDomains')?.codec;
  if (!codec) throw new Error('The document has no listDomains.');
  const write = async (list: string[]) => {
    const success = { message: 'Domains.', data: { list } };
    const { body, loggedBody } = isLong ? await codec.longSuccess('id', success) : codec.success('id', success);
    return { body: [body].flat().join(''), loggedBody };
  };
  const overhead = (await write([''])).body.length;
  const fitting = await write(['d'.repeat(LIMIT - overhead)]);
  expect([fitting.body.length, fitting.loggedBody]).toEqual([LIMIT, fitting.body]);
  const longer = await write(['d'.repeat(LIMIT - overhead + 1)]);
  expect(longer.body).toHaveLength(LIMIT + 1);
  expect(JSON.parse(longer.loggedBody)).toEqual({
    status: 'success',
    requestID: 'id',
    message: 'Domains.',
    data: '[cut: 65537 characters]',
  });
});

test('lists more VMs than fit into an entry of the request log', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  const { id } = await service.store.read((db) => db.selectFrom('vms').select('account_id as id').executeTakeFirstOrThrow());
  await service.store.commit(({ db }) => copyVms(db, id, 1_000));
  const { data } = (await service.call('listVms')).body;
  expect([data.total_vms, data.list.length, data.total_stats]).toEqual([1_000, 1_000, { cores: 2_000, mem: 4_096_000, disk: 40_000 }]);
  const [newest] = (await service.call('listRequests')).body.data;
  expect(JSON.parse(newest.response_body)).toMatchObject({
    message: '1000 VMs.',
    data: expect.stringMatching(/^\[cut: \d{6} characters\]$/),
  });
});
