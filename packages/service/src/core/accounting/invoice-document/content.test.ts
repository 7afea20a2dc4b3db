import { expect, test } from 'vitest';

import { deployedServer, EPYC, RYZEN } from '../../../../test/dedicated.ts';
import { startService } from '../../../../test/harness.ts';
import type { TestService } from '../../../../test/harness.ts';
import { START } from '../../../../test/ports/clock.ts';
import { euros } from '../../../rules/money.ts';
import { chargeOwed } from '../charge.ts';
import type { Charge } from '../charge.ts';
import { durationOf } from './content.ts';
import { issueDocuments } from './issue.ts';
import { contentOf, storedContentOf } from './stored-content.ts';

const NOVEMBER_10 = Math.floor(START / 1000);

/** The groups of the account's only document, which is that of November. */
async function groupsOf(service: TestService, accountId: string) {
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  await issueDocuments(service.store);
  const document = await service.store.read((db) =>
    db.selectFrom('issued_documents').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow(),
  );
  return (await contentOf(storedContentOf(document))).groups;
}

function charge({ store, ports, clock }: TestService, one: Charge): Promise<void> {
  return store.commit(({ db }) => chargeOwed(db, ports, one, clock.now()));
}

test('the line of a VM has its resources, its time and its price', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  const buy = async (form: object) =>
    (await service.call('createVm', { form: { os: 'debian_12', hostsystem: 'de_xeon', disk: 40, ...form }, apiKey })).body.data.identifier;
  service.clock.advance(61_000);
  const small = await buy({ cores: 1, mem: 1536, hostname: 'small' });
  service.clock.advanceTo('2026-11-11T00:00:00Z');
  const large = await buy({ cores: 2, mem: 1024, storage: 100, hostname: 'large' });
  await service.vms.stop(large);
  const groups = await groupsOf(service, id);
  expect(groups.map(({ title, total }) => [title, total])).toEqual([['Virtual servers', '1.98']]);
  expect(groups[0]?.lines.toSorted((one, other) => (one.time < other.time ? -1 : 1))).toEqual([
    {
      title: 'small',
      details: `VM ${small}, 1 core, 1.5 GB memory, 40 GB NVMe, de_xeon`,
      time: '2026-11-10 13:04:18 – 2026-12-01 01:00',
      quantity: '20 d 11 h 55 min 42 s',
      unitPrice: '2.90 / 30 d',
      amount: '1.98',
      basisPoints: 1_900,
      measured: {
        quantity: 1_770_942,
        unit: 'second',
        price: '2.90',
        priceQuantity: 2_592_000,
        first: '2026-11-10',
        last: '2026-11-30',
      },
    },
    {
      title: 'large',
      details: `VM ${large}, 2 cores, 1 GB memory, 40 GB NVMe, 100 GB HDD, de_xeon`,
      time: '2026-11-11 01:00 – 2026-11-11 01:00',
      quantity: '0 s',
      unitPrice: '4.20 / 30 d',
      amount: '0.00',
      basisPoints: 1_900,
      measured: {
        quantity: 0,
        unit: 'second',
        price: '4.20',
        priceQuantity: 2_592_000,
        first: '2026-11-11',
        last: '2026-11-11',
      },
    },
  ]);
});

test('an invoice has charges of domains and dedicated servers in separate groups, named after the domain or the server', async () => {
  const service = await startService();
  const { id } = await deployedServer(service, EPYC);
  const day = 86_400;
  const domain = { accountId: id, kind: 'domain', start: NOVEMBER_10, stop: NOVEMBER_10 + 365 * day } as const;
  await charge(service, { ...domain, subject: 'a.example', type: 'CREATE', amount: euros('9.50') });
  await charge(service, { ...domain, start: NOVEMBER_10 + 1, subject: 'b.example', type: 'TRANSFER', amount: euros('8.00') });
  await charge(service, { ...domain, start: NOVEMBER_10 + 2, subject: 'c.example', type: 'RENEW', amount: euros('0.01') });
  const dedicated = { accountId: id, kind: 'dedicated', type: 'RENEW', start: NOVEMBER_10 + 1, stop: NOVEMBER_10 + 30 * day } as const;
  await charge(service, { ...dedicated, subject: RYZEN, amount: euros('89.00') });
  await charge(service, { ...dedicated, start: NOVEMBER_10 + 2, subject: 'a-server-that-is-gone', amount: euros('1.00') });
  const measured = (price: string, last: string) => ({ quantity: 1, unit: 'piece', price, priceQuantity: 1, first: '2026-11-10', last });
  const paid = { basisPoints: 1_900, quantity: '1', time: '2026-11-10 – 2027-11-10' };
  const month = { basisPoints: 1_900, quantity: '1', time: '2026-11-10 – 2026-12-10' };
  const groups = await groupsOf(service, id);
  expect(groups.toSorted((one, other) => (one.title < other.title ? -1 : 1))).toEqual([
    {
      title: 'Dedicated servers',
      total: '239.00',
      lines: [
        {
          ...month,
          title: 'Dedicated server, 2 x AMD EPYC 7443',
          details: `Server ${EPYC}, in advance`,
          unitPrice: '149.00',
          amount: '149.00',
          measured: measured('149.00', '2026-12-10'),
        },
        {
          ...month,
          title: 'Dedicated server, AMD Ryzen 9 7950X',
          details: `Server ${RYZEN}, in advance`,
          unitPrice: '89.00',
          amount: '89.00',
          measured: measured('89.00', '2026-12-10'),
        },
        {
          ...month,
          title: 'Dedicated server',
          details: 'Server a-server-that-is-gone, in advance',
          unitPrice: '1.00',
          amount: '1.00',
          measured: measured('1.00', '2026-12-10'),
        },
      ],
    },
    {
      title: 'Domains',
      total: '17.51',
      lines: [
        {
          ...paid,
          title: 'a.example',
          details: 'Registration, in advance',
          unitPrice: '9.50',
          amount: '9.50',
          measured: measured('9.50', '2027-11-10'),
        },
        {
          ...paid,
          title: 'b.example',
          details: 'Transfer, in advance',
          unitPrice: '8.00',
          amount: '8.00',
          measured: measured('8.00', '2027-11-10'),
        },
        {
          ...paid,
          title: 'c.example',
          details: 'Renewal, in advance',
          unitPrice: '0.01',
          amount: '0.01',
          measured: measured('0.01', '2027-11-10'),
        },
      ],
    },
  ]);
});

test.each([
  [0, '0 s'],
  [1, '1 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3_599, '59 min 59 s'],
  [3_600, '1 h'],
  [86_399, '23 h 59 min 59 s'],
  [86_400, '1 d'],
  [90_061, '1 d 1 h 1 min 1 s'],
  [31 * 86_400, '31 d'],
])('%i seconds are %s', (seconds, text) => {
  expect(durationOf(seconds)).toBe(text);
});
