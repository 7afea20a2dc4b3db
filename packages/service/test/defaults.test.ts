/** A missing field has the same effect as its default, and no other value has, for each field of both documents that has a default. */
import provider from '@reseller/openapi/operator.json' with { type: 'json' };
import reseller from '@reseller/openapi/service.json' with { type: 'json' };
import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import type { DEFAULTS as FormDefaults } from '../src/generated/facts.gen.ts';
import type { DEFAULTS as BodyDefaults } from '../src/generated/operator/facts.gen.ts';
import { addIpPool } from '../src/index.ts';
import { EPYC, orderServer } from './dedicated.ts';
import { register } from './domains.ts';
import { SMALL_VM } from './harness.ts';
import { startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';
import { addConfirmed } from './webhook-receiver.ts';

/** Sends a request with some fields and returns its effect. */
type Effect = (service: TestOperator, fields: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** An account with a webhook that was tested a number of times. */
async function accountWithTests(service: TestOperator, tests: number) {
  const { apiKey } = await service.account();
  const { webhook_id } = await addConfirmed(service, { url: 'https://panel.reseller-customer.invalid/' }, apiKey);
  const path = { webhook_id };
  for (let count = 0; count < tests; count++) await service.call('testWebhook', { path, apiKey });
  return { apiKey, path };
}

/** The effect of each form and body that has defaults, and values other than the defaults. */
const cases: Readonly<
  Record<keyof typeof FormDefaults | keyof typeof BodyDefaults, { effect: Effect; others: Readonly<Record<string, unknown>> }>
> = {
  CreateVmForm: {
    others: { ips: 2, backup_slots: 3, network_speed: 1100, hostname: 'web1', allowFallbackIPs: true },
    async effect(service, fields) {
      const account = await service.account();
      // The account has a network with one address. A second address shows whether other networks may be used.
      await service.store.commit(({ db }) =>
        addIpPool(db, {
          id: `own-${account.id}`,
          datacenter: 'AMS1',
          accountId: account.id,
          cidr: '100.127.0.0/30',
          ddosProtection: 'none',
        }),
      );
      const buy = async () => {
        const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, ...fields }, apiKey: account.apiKey });
        const { ipv4, ipv6, password: _password, ...config } = body.data?.config ?? { ipv4: [], ipv6: [] };
        return { status, config, addresses: [ipv4.length, ipv6.length], pricings: body.data?.pricings };
      };
      return [await buy(), await buy(), await buy()];
    },
  },
  AddDomainDnsForm: {
    others: { ttl: 60 },
    async effect(service, fields) {
      await register(service, 'defaults.net');
      const form = { type: 'TXT', data: 'v=spf1 -all', ...fields };
      return (await service.call('addDomainDns', { path: { domain: 'defaults.net' }, form })).body.data.ttl;
    },
  },
  ChangeVmForm: {
    others: { allowFallbackIPs: true },
    async effect(service, fields) {
      const account = await service.account();
      // The account's network has only the address that the VM has already.
      await service.store.commit(({ db }) =>
        addIpPool(db, {
          id: `own-${account.id}`,
          datacenter: 'AMS1',
          accountId: account.id,
          cidr: '100.127.0.0/30',
          ddosProtection: 'none',
        }),
      );
      const { apiKey } = account;
      const { body } = await service.call('createVm', { form: SMALL_VM, apiKey });
      const path = { vmid: String(body.data?.identifier) };
      const { status } = await service.call('changeVm', { path, form: { ips: 2, ...fields }, apiKey });
      return status;
    },
  },
  BuyIpsForm: {
    others: { count: 2, allowFallbackIPs: true },
    async effect(service, fields) {
      const { id: accountId, apiKey } = await service.account();
      const { body } = await service.call('createVm', { form: SMALL_VM, apiKey });
      // The account's network has only one address.
      const cidr = '100.127.0.0/30';
      await service.store.commit(({ db }) =>
        addIpPool(db, { id: `own-${accountId}`, datacenter: 'AMS1', accountId, cidr, ddosProtection: 'none' }),
      );
      const buy = async () => {
        const bought = await service.call('buyIps', { form: { vmid: String(body.data?.identifier), ...fields }, apiKey });
        return [bought.status, bought.body.data?.list.length];
      };
      return [await buy(), await buy()];
    },
  },
  SetBillingProfileRequest: {
    others: { language: 'de' },
    async effect(service, fields) {
      const { id: account_id } = await service.account();
      const party = { company: 'A', street: 'B 1', postal_code: '10115', city: 'C', country: 'DE', vat_id: null, reverse_charge: false };
      const { billing_profile } = await operator.setBillingProfile({
        client: service.client,
        path: { account_id },
        body: { ...party, ...fields },
      });
      return billing_profile?.language;
    },
  },
  DefineOsImageRequest: {
    others: { platform: 'windows', min_disk: 2 },
    effect: ({ client }, fields) =>
      operator.defineOsImage({ client, path: { os: 'plan_9' }, body: { displayname: 'Plan 9', username: 'glenda', ...fields } }),
  },
  CreateFaultRequest: {
    others: { times: 2 },
    async effect({ client }, fields) {
      const {
        id: _id,
        created: _created,
        ...fault
      } = await operator.createFault({ client, body: { effect: { kind: 'cut_before_commit' }, ...fields } });
      return fault;
    },
  },
  CreateIsolatedAccountRequest: {
    others: { credit_limit: '1000.01' },
    async effect({ client }, fields) {
      const { account } = await operator.createIsolatedAccount({ client, body: { name: 'run', ...fields } });
      return account.credit_limit;
    },
  },
  IssueApiKeyRequest: {
    others: { access: 'read' },
    async effect(service, fields) {
      const { id: account_id } = await service.account();
      const path = { account_id };
      const { key, access } = await operator.issueApiKey({ client: service.client, path, body: { label: 'run', ...fields } });
      return { access, status: (await service.call('createVm', { form: SMALL_VM, apiKey: key })).status };
    },
  },
  ScheduleHostSystemPricesRequest: {
    others: { applies_to: 'all_vms' },
    async effect(service, fields) {
      const path = { hostsystem: SMALL_VM.hostsystem };
      const { prices } = await operator.getHostSystem({ client: service.client, path });
      const vm = (await service.call('createVm', { form: SMALL_VM })).body.data;
      const valid_from = '2026-12-01T00:00:00Z';
      await operator.scheduleHostSystemPrices({
        client: service.client,
        path,
        body: { prices: { ...prices, core: '9.00' }, valid_from, ...fields },
      });
      service.clock.advanceTo(valid_from);
      return (await service.call('getVmConfig', { path: { vmid: String(vm.identifier) } })).body.data.pricings;
    },
  },
  RotateApiKeyRequest: {
    others: { overlap_seconds: 60 },
    async effect({ client, account }, fields) {
      const { id: account_id } = await account();
      const { items } = await operator.listApiKeys({ client, path: { account_id } });
      const path = { api_key_id: items[0]?.id ?? '' };
      return (await operator.rotateApiKey({ client, path, body: { ...fields } })).replaced.valid_until;
    },
  },
  RotateKeyForm: {
    others: { overlap_seconds: 60 },
    async effect(service, fields) {
      const { apiKey } = await service.account();
      const [key] = (await service.call('listKeys', { apiKey })).body.data.list;
      const { data } = (await service.call('rotateKey', { path: { key_id: key.key_id }, form: { ...fields }, apiKey })).body;
      return data.replaced_valid_until;
    },
  },
  AddWebhookForm: {
    others: { events: 'vm.created', description: 'panel', enabled: false },
    async effect(service, fields) {
      const form = { url: 'https://panel.reseller-customer.invalid/', ...fields };
      const {
        webhook_id: _id,
        signing_secret: _secret,
        created: _created,
        ...data
      } = (await service.call('addWebhook', { form })).body.data;
      return data;
    },
  },
  ListEventsForm: {
    others: { limit: 49 },
    async effect(service, fields) {
      const { apiKey } = await accountWithTests(service, 51);
      return (await service.call('listEvents', { form: { ...fields }, apiKey })).body.data.events.length;
    },
  },
  ListWebhookDeliveriesForm: {
    others: { limit: 49 },
    async effect(service, fields) {
      const { apiKey, path } = await accountWithTests(service, 51);
      return (await service.call('listWebhookDeliveries', { path, form: { ...fields }, apiKey })).body.data.deliveries.length;
    },
  },
  RotateOperatorTokenRequest: {
    others: { overlap_seconds: 60 },
    async effect({ client }, fields) {
      const { id } = await operator.createOperatorToken({ client, body: { name: 'run', scopes: ['read'] } });
      const path = { operator_token_id: id };
      return (await operator.rotateOperatorToken({ client, path, body: { ...fields } })).replaced.valid_until;
    },
  },
  CompleteDedicatedSetupRequest: {
    others: { ipv6: [{ address: '2001:db8:1::/64', gateway: '2001:db8:1::1' }] },
    async effect(service, fields) {
      const { client, account } = service;
      await orderServer(service, EPYC, (await account()).id);
      const management = { dashboard: 'https://x.invalid/', username: 'u', email: 'u@x.invalid', password: 'p' };
      const body = { management, ipv4: [{ address: '192.0.2.7', gateway: '192.0.2.1' }], ...fields };
      return (await operator.completeDedicatedSetup({ client, path: { server_id: EPYC }, body })).ipv6;
    },
  },
};

/** The fields that have a default, as the documents write them. */
const defaults = [reseller, provider].flatMap(({ components }) =>
  Object.entries(components.schemas).flatMap(([form, schema]) =>
    Object.entries<{ default?: unknown }>('properties' in schema ? { ...schema.properties } : {}).flatMap(([field, { default: value }]) =>
      value === undefined ? [] : [{ form, field, value }],
    ),
  ),
);

test.each(defaults)('$form: a missing $field has the effect of $value', async ({ form, field, value }) => {
  const found = Object.entries(cases).find(([name]) => name === form)?.[1];
  if (!found) throw new Error(`The default of ${field} in ${form} is new: say in this test what the form does.`);
  const { effect, others } = found;
  expect(others).toHaveProperty(field);
  const apart = async (fields: Readonly<Record<string, unknown>>) => effect(await startOperator(), fields);
  const [left, sent, other] = [await apart({}), await apart({ [field]: value }), await apart({ [field]: others[field] })];
  expect(left).toEqual(sent);
  expect(other).not.toEqual(left);
});
