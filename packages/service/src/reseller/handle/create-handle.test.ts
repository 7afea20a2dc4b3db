import { expect, test } from 'vitest';

import { footprint, PERSON, PHONE } from '../../../test/domains.ts';
import { sharedService, startService } from '../../../test/harness.ts';

const customer = sharedService();

test('returns the 16 fields of a handle, with null for missing ones', async () => {
  const service = await customer();
  const created = await service.call('createHandle', { form: PERSON });
  expect(created.body.data.handle).toMatch(/^HDL-[A-Z0-9]{12}$/);
  const { body } = await service.call('getHandle', { path: { handle: created.body.data.handle } });
  expect(body.data).toEqual({
    ...PERSON,
    handle: created.body.data.handle,
    type: 'PERS',
    organisation: null,
    country: 'Germany',
    phone: null,
    fax: null,
  });
  expect(Object.keys(body.data)).toHaveLength(16);
});

test('normalises the country code and the phone number', async () => {
  const service = await customer();
  const { body } = await service.call('createHandle', { form: { ...PERSON, countrycode: 'de', phone: '069 5550-1234' } });
  expect((await service.call('getHandle', { path: { handle: body.data.handle } })).body.data).toMatchObject({
    countrycode: 'DE',
    country: 'Germany',
    phone: PHONE,
  });
});

test('lists the handles of the account in the order of their creation, each as it is read alone', async () => {
  const service = await customer();
  const stranger = await service.account();
  await service.call('createHandle', { form: PERSON, apiKey: stranger.apiKey });
  const ids: string[] = [];
  for (const firstname of ['Zoe', 'Anna']) {
    ids.push((await service.call('createHandle', { form: { ...PERSON, firstname } })).body.data.handle);
    service.clock.advance(1_000);
  }
  const alone = await Promise.all(ids.map(async (handle) => (await service.call('getHandle', { path: { handle } })).body.data));
  const { body } = await service.call('listHandles');
  expect([body.message, body.data]).toEqual(['2 handles.', { list: alone }]);
});

test('accepts every country of the list', async () => {
  const service = await customer();
  const { data } = (await service.call('listHandleCountries')).body;
  expect(data).toContainEqual({ code: 'NL', title: 'Netherlands' });
  expect(data.length).toBeGreaterThanOrEqual(249);
  const responses = await Promise.all(
    data.map(({ code }: { code: string }) => service.call('createHandle', { form: { ...PERSON, countrycode: code } })),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(responses.map(({ body }) => body.data.handle)).size).toBe(data.length);
});

test('stores names in any script unchanged', async () => {
  const service = await customer();
  const form = {
    ...PERSON,
    firstname: 'Łucja',
    lastname: "O'Brien-Ñúñez",
    street: '東京都千代田区',
    gender: 'FEMALE',
    region: 'Île-de-France',
  };
  const { body } = await service.call('createHandle', { form });
  expect((await service.call('getHandle', { path: { handle: body.data.handle } })).body.data).toMatchObject(form);
});

test.each([
  ['an empty name', { firstname: '' }, 'firstname', 'pattern'],
  ['a name of blanks', { lastname: '   ' }, 'lastname', 'pattern'],
  ['a NUL byte', { city: 'Frank\u0000furt' }, 'city', 'pattern'],
  ['a line break', { street: 'Musterallee\r\nBcc: x' }, 'street', 'pattern'],
  ['a name of 1 000 characters', { lastname: 'x'.repeat(1000) }, 'lastname', 'maxLength'],
  ['a country that there is not', { countrycode: 'ZZ' }, 'countrycode', 'exists'],
  ['a country code of three letters', { countrycode: 'DEU' }, 'countrycode', 'maxLength'],
  ['a country code of digits', { countrycode: '49' }, 'countrycode', 'pattern'],
  ['an e-mail address without an @', { email: 'jonas.reseller-customer.example' }, 'email', 'format'],
  ['an e-mail address with a line break', { email: 'jonas@reseller-customer.example\nBcc: x@y.example' }, 'email', 'format'],
  ['a phone number that is too short', { phone: '123' }, 'phone', 'phone'],
  ['a phone number that is words', { phone: 'call me' }, 'phone', 'pattern'],
  ['a phone number with an extension', { phone: '+49 69 55501234 ext. 5' }, 'phone', 'pattern'],
  ['an organisation, which the form does not have', { organisation: 'x' }, 'organisation', 'unknown'],
])('%s: responds with 422 that names the field and the rule, and changes nothing', async (_, wrong, field, rule) => {
  const service = await customer();
  const before = await footprint(service);
  const { status, body } = await service.call('createHandle', { form: { ...PERSON, ...wrong }, idempotencyKey: 'one' });
  expect(status).toBe(422);
  expect(body.data.fields).toContainEqual({ field, rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
});

test.each(Object.keys(PERSON))('responds with 422 without %s', async (field) => {
  const service = await customer();
  const { status, body } = await service.call('createHandle', { form: { ...PERSON, [field]: undefined } });
  expect(status).toBe(422);
  expect(body.data.fields).toEqual([{ field, rule: 'required', message: expect.stringMatching(/\w/) }]);
});

test('returns the same handle for the same key and form', async () => {
  const service = await startService();
  const first = await service.call('createHandle', { form: PERSON, idempotencyKey: 'one' });
  expect((await service.call('createHandle', { form: PERSON, idempotencyKey: 'one' })).body).toEqual(first.body);
  expect(await service.store.read((db) => db.selectFrom('handles').select('id').execute())).toHaveLength(1);
  const other = await service.call('createHandle', { form: { ...PERSON, number: '12b' }, idempotencyKey: 'one' });
  expect(other).toMatchObject({ status: 409, body: { type: 'idempotency_key_reused' } });
});

test.each(['x', 'HDL-', 'hdl-abc', "HDL-' OR '1'='1", 'HDL-ÄÖÜ', 'x'.repeat(900)])(
  "responds with 404 to '%s', which is not a handle",
  async (handle) => {
    const service = await customer();
    expect((await service.call('getHandle', { path: { handle } })).status).toBe(404);
  },
);
