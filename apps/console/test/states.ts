/** States that the sample data lack. */
import type { Sandbox } from '../../../.config/sandbox.ts';
import { call, operate } from './browser.ts';
import { DEMO_ACCOUNT } from './pages.ts';

/** Makes an account with one VM. */
export async function accountWithVm(sandbox: Sandbox, name: string): Promise<{ readonly accountId: string; readonly vm: string }> {
  const { account, api_key: key } = await operate(sandbox, 'POST /sandbox/isolated-accounts', { name });
  const form = { cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' };
  const bought = await call({ ...sandbox, apiKey: key.key }, 'PUT /vm/create', form);
  return { accountId: account.id, vm: String(bought.data.identifier) };
}

/** Makes what the dialogs need that are offered in some states only. */
export async function bringAboutStates(sandbox: Sandbox): Promise<void> {
  const { accountId, vm } = await accountWithVm(sandbox, 'Left');
  await operate(sandbox, `POST /vms/${vm}/stop`);
  await operate(sandbox, `PUT /accounts/${accountId}/suspension`, { reason: 'No payment' });
  const payment = { amount: '5.00', date: '2026-11-04', method: 'cash', reference: 'At the counter' };
  await operate(sandbox, `PUT /accounts/${DEMO_ACCOUNT}/payments/at-the-counter`, payment);
  const prices = { create: '9.00', renew: '9.00', transfer: '9.00', valid_from: '2099-01-01T00:00:00Z' };
  await operate(sandbox, 'POST /tld-prices/net/versions', prices);
  const { prices: host } = await operate(sandbox, 'GET /host-systems/nl_ryzen');
  await operate(sandbox, 'POST /host-systems/nl_ryzen/price-versions', { prices: host, valid_from: '2099-01-01T00:00:00Z' });
  const effect = { kind: 'delay', milliseconds: 1_500 };
  await operate(sandbox, 'POST /sandbox/faults', { operations: ['generateOtp'], effect });
}
