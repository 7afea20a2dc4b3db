import { expect, test } from 'vitest';

import { footprint, handleOf, PERSON, PHONE, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { startService } from '../../../test/harness.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

test.each(engines)('gives a domain another contact in all roles, on %s', async (engine) => {
  const service = await startService({ engine });
  await register(service, DOMAIN);
  const { body: created } = await service.call('createHandle', { form: { ...PERSON, firstname: 'Ada', phone: PHONE } });
  const { handle } = created.data;
  const all = { ownerC: handle, adminC: handle, techC: handle, zoneC: handle };
  expect((await service.call('setDomainHandle', { path, form: { handle } })).body.data).toEqual(all);
  expect((await service.call('getDomain', { path })).body.data.handle).toEqual(all);
  expect(service.registrar.domains.get(DOMAIN)?.contact).toMatchObject({ handle, firstname: 'Ada', phone: PHONE });
});

test('refuses handles that do not exist, that another account has, or that lack the phone of a .de domain, and changes nothing', async () => {
  const service = await startService();
  await register(service, 'reseller-customer.de');
  const { apiKey } = await service.account();
  const handles = {
    'HDL-ABCDEFGHJKLM': 'exists',
    [await handleOf(service, { apiKey, phone: PHONE })]: 'exists',
    [await handleOf(service, {})]: 'phone',
  };
  for (const [handle, rule] of Object.entries(handles)) {
    const before = await footprint(service);
    const { status, body } = await service.call('setDomainHandle', { path: { domain: 'reseller-customer.de' }, form: { handle } });
    expect({ status, fields: body.data.fields }).toEqual({
      status: 422,
      fields: [{ field: 'handle', rule, message: expect.stringContaining(handle) }],
    });
    expect(await footprint(service)).toEqual(before);
  }
});

test('keeps the contact on both sides if the registrar fails', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const before = await footprint(service);
  const handle = await handleOf(service);
  service.registrar.failing = new Error('no');
  expect((await service.call('setDomainHandle', { path, form: { handle } })).status).toBe(503);
  const { domains, registrar } = Object(await footprint(service));
  expect({ domains, registrar }).toEqual({ domains: Object(before).domains, registrar: Object(before).registrar });
});
