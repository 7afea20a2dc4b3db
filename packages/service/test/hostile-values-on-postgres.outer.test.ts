/** PostgreSQL accepts less than SQLite: no NUL byte or lone surrogate in a text, no integer beyond its type. The service must refuse them first. */
import { writeForm } from '@reseller/contract';
import { expect, test } from 'vitest';

import { PERSON, PHONE } from './domains.ts';
import { formRules } from './form-rules.ts';
import { SMALL_VM, startService } from './harness.ts';
import { NEVER } from './hostile-texts.ts';
import { apiOf, withForm, withPath } from './operations.ts';

test('never responds with 5xx to hostile values in any field or path parameter on PostgreSQL', { tags: 'deep' }, async () => {
  const service = await startService({ engine: 'postgres', creditLimit: '90000.00' });
  const { data: vm } = (await service.call('createVm', { form: SMALL_VM })).body;
  const { data: handle } = (await service.call('createHandle', { form: { ...PERSON, phone: PHONE } })).body;
  const domain = { domain: 'reseller-customer.net', handle: handle.handle };
  expect((await service.call('registerDomain', { form: domain })).status).toBe(200);
  const path = { vmid: String(vm.identifier), domain: domain.domain };
  const good: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    createVm: { ...SMALL_VM, ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKJYnCjhCwOsLjSbGdh6VfHpe0vJCkhDKLgHpVxkmVv' },
    registerDomain: domain,
    setDomainNameservers: { ns1: 'default', ns2: 'default', ns3: 'default', ns4: 'default' },
    editDomainDns: { type: 'TXT', data: 'text' },
    createHandle: { ...PERSON, phone: PHONE },
  };
  const texts = [
    ...NEVER.map(([, raw]) => raw),
    '9'.repeat(19),
    '9'.repeat(60),
    '-9223372036854775808',
    '1e308',
    '%F0%9F%92%A5',
    "'%3B+--",
  ];
  for (const id of withForm) {
    for (const field of formRules(id).fields.keys()) {
      const rest = writeForm(apiOf(id).operation, { ...good[id], [field]: undefined });
      const responses = await Promise.all(
        texts.map(async (raw) => ({ raw, ...(await service.call(id, { path, body: `${rest}&${field}=${raw}` })) })),
      );
      const failed = responses.filter(({ status }) => status >= 500);
      expect.soft(failed.map(({ raw, text }) => `${raw.slice(0, 50)} in ${field} of ${id}: ${text}`)).toEqual([]);
    }
  }
  // A longer path segment gets 414 before any operation; see protocol.test.ts.
  const segments = texts.map((raw) => raw.slice(0, 900));
  for (const id of withPath) {
    const named = (raw: string) => ({ vmid: raw, identifier: raw, domain: raw, handle: raw, invoiceID: raw });
    const statuses = await Promise.all(
      segments.map(async (raw) => `${raw.slice(0, 50)}: ${(await service.call(id, { path: named(raw) })).status}`),
    );
    expect
      .soft(
        statuses.filter((text) => !/: 4\d\d$/.test(text)),
        id,
      )
      .toEqual([]);
  }
});
