/** The console in Chromium, against the real service. The tests follow each other: each begins with the page that the one before it left. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text as readText } from 'node:stream/consumers';

import { openSqliteStore } from '@reseller/service';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { byDepth, isDeep } from '../../../.config/depth.ts';
import { copyVms } from '../../../packages/service/test/large-account.ts';
import { decimalOf, grouped, sumOf } from '../src/api/money.ts';
import { evaluateConsequence, sentenceOf } from '../src/document/consequence.ts';
import { operations } from '../src/document/operations.data.ts';
import { visible } from '../src/ui/visible.ts';
import { call, consoleLink, openContext, operate, overflowOf, runPrintedPurchase, startRestartable } from './browser.ts';
import type { Restartable, Watched } from './browser.ts';
import { DEMO_ACCOUNT, PAGES } from './pages.ts';
import { inspect, LOOKS } from './pictures.ts';
import { accountWithVm, bringAboutStates } from './states.ts';

const HOSTILE_NAME = `"><img src=x onerror=alert(1)><script>alert(2)</script> \u202Egnissim ${'W'.repeat(40)}`;
const MANY_VMS = 10_000;
const PURCHASES = 20;
/** Many times as many requests as one response has. */
const BURST = 1_500;

/**
 * The dialogs that a deep run leaves out: the console signs in and out by itself and shows the price of a resize in its form, the test of a
 * failed job retries it, and only a hypervisor that has other machines than the store (`reconcile.outer.test.ts`) offers the rest.
 */
const WITHOUT_DIALOG = ['adoptVm', 'createSession', 'endSession', 'quoteResizeVm', 'releaseVm', 'retryJobs'];
/** The rows of a list offer the same actions, except for their states. */
const MENUS_OF_A_PAGE = 6;
let sandbox: Restartable;
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  [sandbox, browser] = await Promise.all([startRestartable(), launchBrowser()]);
  watched = await openContext(browser);
  ({ page } = watched);
});

afterAll(async () => {
  await browser?.close();
  await sandbox?.remove();
});

const open = (path: string) => page.goto(`${sandbox.current().operatorUrl}/console/${path}`);
const heading = (name: string) => page.getByRole('heading', { name, exact: true });
const row = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text });

describe.skipIf(noBrowser !== undefined)('the console', () => {
  test('the printed link signs in once, also in a tab that shows the console, and leaves nothing that a script could read', async () => {
    await page.goto(consoleLink(sandbox.current()).replace(/#.*/, ''));
    await heading('Sign in to the console').waitFor();
    await page.goto(consoleLink(sandbox.current()));
    await heading('Requests').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    const [cookie] = await watched.context.cookies();
    expect(cookie).toMatchObject({ name: expect.stringMatching(/^reseller_session_\d+$/), httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual(['', 0, 0]);
    await page.reload();
    await heading('Requests').waitFor();
    const other = await openContext(browser);
    await other.page.goto(consoleLink(sandbox.current()));
    await other.page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await other.context.close();
  });

  test('the printed purchase appears by itself, with its exchange and without its secrets', async () => {
    const { identifier } = await runPrintedPurchase(sandbox.current());
    await row('/vm/create').first().getByRole('link', { name: '/vm/create' }).click();
    const response = page.getByRole('region', { name: 'Response body' }).last();
    await response.getByText(`"identifier": ${identifier}`).waitFor();
    expect(await response.textContent()).toMatch(/"password": "\*+"/);
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
    const detail = page.getByRole('complementary', { name: 'Request' });
    await detail.getByText(`${identifier} for 10.40 EUR net for 30 days`).waitFor();
    // Escape closes the request, and the filter of the list stays, also after Back.
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    await page.getByLabel('Which requests').selectOption('changes');
    await page.getByLabel('Filter requests').fill('/vm/create');
    await expect.poll(() => new URL(page.url()).search).toBe('?kind=changes&filter=%2Fvm%2Fcreate');
    await row('/vm/create').first().getByRole('link', { name: '/vm/create' }).click();
    await detail.getByText(`${identifier} for 10.40 EUR net for 30 days`).waitFor();
    await detail.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByLabel('Which requests').inputValue()).toBe('changes');
    await page.goBack();
    await detail.waitFor();
    expect(await detail.getByText(/^CREATE since .* on the current invoice$/).count()).toBe(1);
    expect(await detail.getByText(/^demo …/).count()).toBe(1);
    await detail.getByRole('link', { name: String(identifier) }).click();
    await page.getByRole('link', { name: 'Requests of this VM' }).click();
    await page.getByText('No request matches').waitFor();
    await page.getByLabel('Path begins with').fill('/vm/create');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await row('/vm/create').getByText('200 succeeded').waitFor();
    await page.getByRole('link', { name: 'VMs' }).click();
    await row(String(identifier)).getByText('running').waitFor();
  });

  test('every request of a burst is listed', { tags: 'deep' }, async () => {
    await page.getByRole('link', { name: 'Requests' }).click();
    await row('/vm/create').first().waitFor();
    const count = page.locator('.filters .number');
    const before = Number(await count.textContent());
    await Promise.all(Array.from({ length: BURST }, () => call(sandbox.current(), 'GET /domain/list')));
    await expect.poll(() => count.textContent()).toBe((before + BURST).toLocaleString('en'));
  });

  test('a replay sends the request again as the account, with a key that the console issues', async () => {
    await call(sandbox.current(), 'GET /vm/list/hosts');
    await page.getByRole('link', { name: 'Requests' }).click();
    await row('/vm/list/hosts').getByRole('link', { name: '/vm/list/hosts' }).click();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Issue a key for an hour' }).click();
    await page.getByRole('button', { name: 'Send GET /vm/list/hosts' }).click();
    await page.getByText('HTTP 200').waitFor();
    await expect.poll(() => row('/vm/list/hosts').count()).toBe(2);
  });

  test('a month passes, and the invoice on the screen is the one of the API', async () => {
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await page.getByRole('button', { name: 'Create a snapshot' }).click();
    await page.getByRole('dialog').getByLabel('Snapshot').fill('before');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a snapshot' }).click();
    await row('before').waitFor();
    await page.getByRole('button', { name: 'To the end of the month' }).click();
    await page.getByText(/^Done\./).waitFor();
    await page.getByRole('link', { name: 'Invoices' }).click();
    const { items } = await operate(sandbox.current(), 'GET /invoices');
    const [newest] = items;
    const shown = row(newest.number);
    await shown.getByText(newest.total, { exact: true }).first().waitFor();
    expect(await shown.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining([newest.number, newest.total, newest.unpaid]));
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export CSV' }).click()]);
    expect(await readText(await download.createReadStream())).toContain(`\r\n${newest.number},`);
    await page.getByRole('link', { name: 'Accounts' }).click();
    await page.getByRole('link', { name: 'Demo reseller' }).click();
    const { credit, total } = await operate(sandbox.current(), `GET /accounts/${DEMO_ACCOUNT}/current-invoice`);
    for (const amount of [credit.balance, credit.unpaid, credit.pending])
      await page.getByRole('table', { name: 'Credit in EUR, net' }).getByText(amount, { exact: true }).first().waitFor();
    const remaining = page.getByRole('table', { name: 'Credit in EUR, net' }).getByRole('row', { name: /Remaining/ });
    await remaining.getByText(credit.remaining, { exact: true }).waitFor();
    expect(Number(await page.locator('#running-total').textContent())).toBeGreaterThanOrEqual(Number(total));
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await page.getByRole('button', { name: 'Actions for before' }).click();
    await page.getByRole('menuitem', { name: 'Restore a snapshot' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore a snapshot' }).click();
    await page.getByRole('link', { name: 'Invoices' }).click();
    await expect.poll(() => row(newest.number).count()).toBe(0);
  });

  test('the overview has the unpaid invoices, the room and the month of all accounts', async () => {
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    const { items: unpaidInvoices } = await operate(sandbox.current(), 'GET /invoices?status=OPEN');
    expect(unpaidInvoices.length).toBeGreaterThan(0);
    for (const { number, unpaid } of unpaidInvoices) await row(number).getByText(unpaid, { exact: true }).waitFor();
    const { items: hosts } = await operate(sandbox.current(), 'GET /host-systems');
    for (const { displayname, nodes } of hosts) {
      const of = (part: string) => nodes.reduce((total: number, node: Readonly<Record<string, number>>) => total + (node[part] ?? 0), 0);
      await row(displayname)
        .getByText(grouped(String(of('cores') - of('used_cores'))), { exact: true })
        .waitFor();
    }
    await page.getByText('No job failed, and no queue is held up').waitFor();
    const { items: accounts } = await operate(sandbox.current(), 'GET /accounts');
    const running = [];
    for (const { id } of accounts) running.push(await operate(sandbox.current(), `GET /accounts/${id}/current-invoice`));
    const estimate = decimalOf(sumOf(running.map(({ estimated_total }) => estimated_total)));
    await page.getByLabel('This month, all accounts').getByText(grouped(estimate), { exact: true }).waitFor();
    await page.getByRole('table', { name: 'New accounts' }).getByText('Demo reseller').click();
    await heading('Demo reseller').waitFor();
  });

  test('the timeline of an account has its purchases, its refused requests and the changes of the operators', async () => {
    await call(sandbox.current(), 'PUT /vm/create', { cores: '2', mem: '4096', disk: '40', os: 'beos', hostsystem: 'nl_ryzen' });
    await operate(sandbox.current(), `PUT /accounts/${DEMO_ACCOUNT}/credit-limit`, { credit_limit: '1000.00' });
    const timeline = page.getByRole('table', { name: 'Timeline' });
    const entries = timeline.getByRole('row');
    await entries.filter({ hasText: 'vm.created' }).first().waitFor();
    await entries.filter({ hasText: operations.setCreditLimit.summary }).first().waitFor();
    const [refused] = (await operate(sandbox.current(), 'GET /requests?result=failed')).items;
    expect(refused.error_message).toContain('os must be one of ');
    await page.getByRole('table', { name: 'Failed requests' }).getByText(`422 ${refused.error_message}`).waitFor();
    await entries.filter({ hasText: 'Refused: PUT /vm/create' }).first().getByRole('link').click();
    await page.getByRole('complementary', { name: 'Request' }).getByText('beos').first().waitFor();
    expect(await page.getByRole('complementary', { name: 'Request' }).getByText('PUT /vm/create').count()).toBe(1);
  });

  test('a list is sorted by its columns, and Back brings the sorted and filtered list again', async () => {
    await page.getByRole('link', { name: 'VMs' }).click();
    const shown = async () => (await page.locator('tbody .row-link').allTextContents()).map((text) => text.slice(0, 5));
    const { items } = await operate(sandbox.current(), 'GET /vms?limit=200');
    const ids: string[] = items.map(({ id }: { readonly id: number }) => String(id)).toSorted();
    await page.getByRole('button', { name: 'VM', exact: true }).click();
    await expect.poll(shown).toEqual(ids);
    await page.getByRole('button', { name: 'VM', exact: false }).first().click();
    await expect.poll(shown).toEqual(ids.toReversed());
    await page.getByLabel('Filter: VMs').fill('48213');
    await row('48213')
      .getByRole('link', { name: /^48213/ })
      .click();
    await heading('VM 48213')
      .or(page.getByRole('heading', { name: /48213/ }))
      .first()
      .waitFor();
    await page.goBack();
    await expect.poll(shown).toEqual(['48213']);
    expect(await page.getByRole('columnheader', { name: 'VM' }).getAttribute('aria-sort')).toBe('descending');
  });

  test.each([
    { typed: 'record pay', id: 'recordPayment' as const },
    { typed: 'note credit', id: 'createCreditNote' as const },
    { typed: 'vat', id: 'setVatRates' as const },
  ])('the palette finds an action by "$typed", and its form asks for the rest', async ({ typed, id }) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(typed);
    await page.getByRole('option', { name: operations[id].summary }).waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: operations[id].summary });
    await dialog.getByRole('button', { name: operations[id].summary }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(watched.faults).toEqual([]);
  });

  test('the keyboard alone sets a fault, which the next request shows', async () => {
    await choose('Faults');
    await heading('Faults').waitFor();
    await choose(operations.createFault.summary);
    const dialog = page.getByRole('dialog');
    await tabTo(dialog.getByLabel('Operations'));
    await page.keyboard.type('listDomains');
    await tabTo(dialog.getByLabel('Kind', { exact: true }));
    await page.keyboard.type('error');
    await tabTo(dialog.getByLabel('Status', { exact: true }));
    await page.keyboard.type('503');
    await page.keyboard.press('Enter');
    await tabTo(dialog.locator('button[type=submit]'));
    await page.keyboard.press('Enter');
    await row('listDomains').getByText('Error 503').waitFor();
    expect(await call(sandbox.current(), 'GET /domain/list')).toMatchObject({ status: 'error' });
    await expect.poll(() => row('listDomains').count()).toBe(0);
    await choose('Requests');
    await row('/domain/list').getByText('503').waitFor();
    await choose('reseller-customer.net');
    await page.getByText('ns1.provider.example').waitFor();
    await choose('INV-00001');
    await heading('Invoice INV-00001').waitFor();
    await page.getByRole('table', { name: 'Virtual servers' }).waitFor();
  });

  test('the fields that the service refuses say why', async () => {
    await page.getByRole('link', { name: 'Accounts' }).click();
    await page.getByRole('button', { name: 'New account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Shop');
    await dialog.getByLabel('Credit limit', { exact: true }).fill('a lot');
    await dialog.getByRole('button', { name: /Create an account/ }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Credit limit', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Escape');
  });

  test('the name of an address is changed in its row, which says whether it leads back', async () => {
    await open('vms/48213');
    const names = page.getByRole('table', { name: 'Names of the addresses' });
    await names.getByText('vm48213.reseller-vm.invalid').first().waitFor();
    await names.getByRole('button', { name: 'Actions for 100.64.0.2' }).click();
    await page.getByRole('menuitem', { name: 'Change the name' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel(/^Domain/).inputValue()).toBe('vm48213.reseller-vm.invalid');
    await dialog.getByLabel(/^Domain/).fill('mail.reseller-customer.net');
    await dialog.getByRole('button', { name: operations.setVmRdns.summary }).click();
    await row('mail.reseller-customer.net').getByText('no', { exact: true }).waitFor();
    expect(await overflowOf(page)).toBe(0);
  });

  test('a backup is made and restored from the page of its VM', async () => {
    await open('vms/48213');
    const backups = page.getByRole('table', { name: 'Backups' });
    await backups.getByText('before the upgrade').last().waitFor();
    await page.getByText('1 of 2 slots').waitFor();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: operations.createVmBackup.summary }).click();
    await dialog.getByRole('button', { name: operations.createVmBackup.summary }).click();
    await page.getByText('2 of 2 slots').waitFor();
    await backups
      .getByRole('button', { name: /^Actions for the backup/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: operations.restoreVmBackup.summary }).click();
    await dialog.getByRole('button', { name: operations.restoreVmBackup.summary }).click();
    await page.getByText(`Done: ${operations.restoreVmBackup.summary}`).waitFor();
    expect(await overflowOf(page)).toBe(0);
  });

  test('a VM shows its present use, its CPU of a day and its traffic of each day', async () => {
    await open('vms/48213');
    await page.getByText('20000 GB are included in a month.').waitFor();
    const charts = [/^CPU in percent, \d{3} samples$/, /^Traffic in GB by day, \d{1,2} days$/];
    for (const name of charts) await page.getByRole('img', { name }).locator('canvas').waitFor();
    expect(await page.getByText(/ Mbit\/s$/).count()).toBe(2);
    expect(await overflowOf(page)).toBe(0);
  });

  test('a server, a sale and a payment need no identifier, no JSON and no invented name', async () => {
    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: 'Servers' }).click();
    await page
      .getByRole('table', { name: 'Market' })
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Order' }).click();
    await dialog.getByLabel('Account', { exact: true }).selectOption({ label: 'Demo reseller' });
    await dialog.getByText(/^The account pays \d+\.\d\d EUR net when the set-up completes/).waitFor();
    await dialog.getByRole('button', { name: operations.orderDedicatedServer.summary }).click();
    await page.getByText(`Done: ${operations.orderDedicatedServer.summary}`).waitFor();
    const servers = page.getByRole('table', { name: 'Servers of accounts' });
    await expect.poll(() => servers.getByText('in setup').count()).toBe(2);

    await page.getByRole('link', { name: 'Catalogue' }).click();
    await page.getByRole('button', { name: operations.createSale.summary }).click();
    await dialog.getByLabel('Title', { exact: true }).fill('Autumn');
    await dialog.getByLabel('Max volume', { exact: true }).fill('5');
    const prices = dialog.getByRole('group', { name: 'Pricing 1' });
    await prices.getByLabel('Name', { exact: true }).selectOption('nl_ryzen');
    await prices.getByLabel(/^Core/).fill('1.10');
    await dialog.getByRole('button', { name: operations.createSale.summary }).click();
    await row('Autumn').waitFor();
    const { items: sales } = await operate(sandbox.current(), 'GET /sales');
    expect(sales.find(({ title }: { readonly title: string }) => title === 'Autumn')).toMatchObject({
      pricings: { nl_ryzen: { core: '1.10' } },
    });

    // In one of these zones, the day is never that of UTC.
    const { now } = await operate(sandbox.current(), 'GET /sandbox/clock');
    const [zone, hours] = new Date(now).getUTCHours() < 11 ? ['Pacific/Pago_Pago', -11] : ['Pacific/Kiritimati', 14];
    const day = new Date(Date.parse(now) + hours * 3_600_000).toISOString().slice(0, 10);
    const vat_rates = [{ basis_points: 1900, valid_from: '1970-01-01' }];
    const setTimeZone = (time_zone: string) => operate(sandbox.current(), 'PUT /settings/vat-rates', { vat_rates, time_zone });
    // Before the page of payments may read the settings.
    await setTimeZone(zone);
    await page.getByRole('link', { name: 'Payments' }).click();
    await page.getByRole('button', { name: operations.recordPayment.summary }).click();
    expect(await dialog.getByLabel('Date', { exact: true }).inputValue()).toBe(day);
    await dialog.getByLabel('Account', { exact: true }).selectOption({ label: 'Demo reseller' });
    await dialog.getByLabel('Amount', { exact: true }).fill('10.00');
    await dialog.getByLabel('Method', { exact: true }).fill('cash');
    await dialog.getByLabel('Reference', { exact: true }).fill('At the counter');
    const name = await dialog.getByLabel('Payment', { exact: true }).inputValue();
    await dialog.getByRole('button', { name: operations.recordPayment.summary }).click();
    await row(name).getByText('10.00').first().waitFor();
    await setTimeZone('Europe/Berlin');
    await page.getByRole('link', { name: 'Accounts' }).click();
  });

  test('a resize shows its price before it is made, and a host system without HDD can be defined again', async () => {
    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: 'VMs' }).click();
    await row('running')
      .first()
      .getByRole('button', { name: /^Actions/ })
      .click();
    await page.getByRole('menuitem', { name: operations.resizeVm.summary }).click();
    await dialog.getByLabel(/^Cores/).fill('7');
    const price = dialog.getByRole('region', { name: 'Price', exact: true });
    const [vm] = (await operate(sandbox.current(), 'GET /vms')).items;
    const sized = ({ ips, backup_slots, network_speed, mem, disk }: Readonly<Record<string, unknown>>) => ({
      ips,
      backup_slots,
      network_speed,
      mem,
      disk,
      cores: 7,
    });
    const quoted = await operate(sandbox.current(), `POST /vms/${vm.id}/resize/quote`, sized(vm));
    await price.getByText(quoted.price.net, { exact: true }).waitFor();
    await price.getByText(quoted.price.gross, { exact: true }).waitFor();
    await dialog.getByRole('button', { name: operations.resizeVm.summary }).click();
    await row(vm.id).getByText('7 cores').waitFor();
    await page.getByRole('link', { name: 'Nodes' }).click();
    await page.getByRole('button', { name: /^Actions for .*Ryzen/ }).click();
    await page.getByRole('menuitem', { name: operations.defineHostSystem.summary }).click();
    await dialog.getByLabel('Processor', { exact: true }).fill('AMD EPYC 4564P');
    await dialog.getByRole('button', { name: operations.defineHostSystem.summary }).click();
    await page.getByText(`Done: ${operations.defineHostSystem.summary}`).waitFor();
    expect(await operate(sandbox.current(), 'GET /host-systems/nl_ryzen')).toMatchObject({ processor: 'AMD EPYC 4564P' });
    await page.getByRole('link', { name: 'Accounts' }).first().click();
  });

  test('a person writes percent, and the service gets basis points', async () => {
    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('row', { name: 'VAT rates' }).getByRole('button', { name: 'Change' }).click();
    expect(await dialog.getByLabel('Rate', { exact: true }).inputValue()).toBe('19 %');
    await dialog.getByRole('button', { name: 'Add another' }).click();
    const next = dialog.getByRole('group', { name: 'VAT rate 2' });
    await next.getByLabel('Rate', { exact: true }).fill('205 %');
    await next.getByLabel('Valid from', { exact: true }).fill('2999-01-01');
    await dialog.getByRole('button', { name: operations.setVatRates.summary }).click();
    await dialog.getByText('must be at most 100 %').waitFor();
    await next.getByLabel('Rate', { exact: true }).fill('20.5');
    await dialog.getByRole('button', { name: operations.setVatRates.summary }).click();
    await page.getByText('20.5 % from 2999-01-01').waitFor();
    expect((await operate(sandbox.current(), 'GET /settings')).vat_rates).toMatchObject([{ basis_points: 1_900 }, { basis_points: 2_050 }]);
    await page.getByRole('link', { name: 'Accounts' }).first().click();
  });

  test('a new secret is shown once and copied, and a dialog says what cannot be undone', async () => {
    await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('link', { name: 'Demo reseller' }).click();
    await page.getByRole('button', { name: 'Issue a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label', { exact: true }).fill('Till');
    const networks = ['127.0.0.0/8', '2001:db8::/32'];
    await dialog.getByLabel(/^Allowed networks/).fill(networks.join('\n'));
    await dialog.getByRole('button', { name: operations.issueApiKey.summary }).click();
    const key = await dialog.getByLabel('Secret').inputValue();
    // The secret is shown once, so Escape asks first.
    page.once('dialog', (question) => void question.dismiss());
    await page.keyboard.press('Escape');
    await expect.poll(() => watched.faults.splice(0)).toEqual([expect.stringContaining('The secret was not copied')]);
    // As on a page without TLS.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
    await dialog.getByRole('button', { name: 'Copy the secret' }).click();
    await dialog.getByRole('button', { name: 'The browser forbids copying' }).waitFor();
    await page.evaluate(() => Reflect.deleteProperty(navigator, 'clipboard'));
    await dialog.getByRole('button', { name: 'Copy the secret' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    expect(await call({ ...sandbox.current(), apiKey: key }, 'GET /vm/list/hosts')).toMatchObject({ status: 'success' });
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Actions for Demo reseller' }).click();
    await page.getByRole('menuitem', { name: operations.suspendAccount.summary }).click();
    await dialog.getByLabel('Reason', { exact: true }).waitFor();
    expect(await dialog.getByText('This cannot be undone.').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await chooseForTill('setApiKeyRestrictions');
    await dialog.getByRole('button', { name: operations.setApiKeyRestrictions.summary }).click();
    await dialog.waitFor({ state: 'hidden' });
    const tills = async () =>
      (await operate(sandbox.current(), `GET /accounts/${DEMO_ACCOUNT}/api-keys`)).items.filter(
        (item: { readonly label: string }) => item.label === 'Till',
      );
    expect(await tills()).toMatchObject([{ allowed_networks: networks }]);
    await chooseForTill('rotateApiKey');
    await dialog.getByRole('button', { name: operations.rotateApiKey.summary }).click();
    await dialog.getByLabel('Secret').focus();
    await page.keyboard.press('Control+c');
    const rotated = await page.evaluate(() => navigator.clipboard.readText());
    expect(await call({ ...sandbox.current(), apiKey: rotated }, 'GET /vm/list/hosts')).toMatchObject({ status: 'success' });
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => row(/Till/).count()).toBe(2);
    await chooseForTill('revokeApiKey');
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: operations.revokeApiKey.summary }).click();
    await row('Till').getByText('revoked').waitFor();
    await page.getByRole('link', { name: 'Accounts' }).first().click();
  });

  test('each dialog says what its operation means at present, as the document has it', async () => {
    const { identifier } = await runPrintedPurchase(sandbox.current());
    await operate(sandbox.current(), `POST /vms/${identifier}/stop`);
    const [{ id: invoice }] = (await operate(sandbox.current(), `GET /invoices?account_id=${DEMO_ACCOUNT}`)).items;
    // A stopped VM offers other operations than one that runs.
    const pages = [`accounts/${DEMO_ACCOUNT}`, `invoices/${invoice}`, `vms/${identifier}`, 'vms/48213'];
    // Others are about what the form names, and not about what the page shows.
    const unseen = new Map(
      Object.entries(operations).flatMap(([id, { consequence, summary }]) =>
        consequence && Object.values(consequence.parameters).some((value) => String(value).startsWith('$request.path.'))
          ? [[id, { ...consequence, summary }]]
          : [],
      ),
    );
    expect(unseen.size).toBeGreaterThan(0);
    for (const path of pages) {
      await open(path);
      for (const [id, consequence] of unseen) {
        await page
          .getByRole('button', { name: /^Actions for / })
          .first()
          .click();
        const item = page.getByRole('menuitem', { name: consequence.summary, exact: true });
        await page.getByRole('menu').waitFor();
        if ((await item.count()) === 0) {
          await page.keyboard.press('Escape');
          continue;
        }
        await item.click();
        const named = path.split('/')[1] ?? '';
        const given = evaluateConsequence(consequence, { path: { account_id: DEMO_ACCOUNT, invoice_id: named, vm_id: named } });
        const query = new URLSearchParams(Object.entries(given?.parameters ?? {}).map(([name, value]) => [name, String(value)]));
        const read = operations[consequence.reads].path.replace(/\{(\w+)\}/, (_, name: string) => query.get(name) ?? '');
        const response = await operate(sandbox.current(), `GET ${read}${read.includes(named) ? '' : `?${query}`}`);
        await page
          .getByRole('dialog')
          .getByText(sentenceOf(consequence, response) ?? 'none', { exact: true })
          .waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
        unseen.delete(id);
      }
    }
    expect([...unseen.keys()]).toEqual([]);
    await open('accounts');
  });

  test('two operators see what the other does, and only what their scopes allow', async () => {
    const body = { name: 'Support desk', scopes: ['read', 'support'] };
    const { token } = await operate(sandbox.current(), 'POST /operator-tokens', body);
    const other = await openContext(browser);
    await other.page.goto(`${sandbox.current().operatorUrl}/console/accounts`);
    await other.page.getByLabel('Operator token').fill('rso_wrong');
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page
      .getByRole('alert')
      .getByText(/unknown/)
      .waitFor();
    await other.page.getByLabel('Operator token').fill(token);
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.getByRole('row').filter({ hasText: 'Demo reseller' }).waitFor();
    expect(await other.page.getByRole('navigation').getByRole('link').allTextContents()).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/Clock|Faults|Audit/)]),
    );
    expect(await other.page.getByRole('button', { name: 'New account' }).count()).toBe(0);
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(HOSTILE_NAME);
    await page.getByRole('dialog').getByLabel('Credit limit', { exact: true }).fill('100.00');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Create an account/ })
      .click();
    await other.page.getByText(visible(HOSTILE_NAME), { exact: true }).waitFor();
    expect([...other.faults, ...watched.faults]).toEqual([]);
    await other.context.close();
  });

  test('an operator who changes what another one has just changed sees the other change, and overwrites nothing', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    const section = page.getByRole('region', { name: 'Seller on invoices' }).or(page.locator('section', { hasText: 'Seller on invoices' }));
    await section.getByText('City').waitFor();
    await section.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email', { exact: true }).fill('billing@provider.example');
    const { seller } = await operate(sandbox.current(), 'GET /invoicing/seller');
    await operate(sandbox.current(), 'PUT /invoicing/seller', { ...seller, city: 'Hamburg' });
    // The page has read the change, and the form has not.
    await section.getByText('Hamburg').waitFor();
    await dialog.getByRole('button', { name: operations.setSeller.summary }).click();
    await dialog.getByText(`city: ${seller.city} is now Hamburg`).waitFor();
    expect((await operate(sandbox.current(), 'GET /invoicing/seller')).seller).toEqual({ ...seller, city: 'Hamburg' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await section.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Email', { exact: true }).fill('billing@provider.example');
    await dialog.getByRole('button', { name: operations.setSeller.summary }).click();
    await dialog.waitFor({ state: 'hidden' });
    const { seller: both } = await operate(sandbox.current(), 'GET /invoicing/seller');
    expect(both).toMatchObject({ city: 'Hamburg', email: 'billing@provider.example' });
    await operate(sandbox.current(), 'PUT /invoicing/seller', seller);
    await page.getByRole('link', { name: 'Accounts' }).click();
    await page.getByRole('button', { name: 'Actions for Demo reseller' }).click();
    await page.getByRole('menuitem', { name: operations.setCreditLimit.summary }).click();
    const { credit_limit: limit } = await operate(sandbox.current(), `GET /accounts/${DEMO_ACCOUNT}`);
    await expect.poll(() => dialog.getByLabel('Credit limit', { exact: true }).inputValue()).toBe(limit);
    await operate(sandbox.current(), `PUT /accounts/${DEMO_ACCOUNT}/credit-limit`, { credit_limit: '1500.00' });
    await dialog.getByRole('button', { name: operations.setCreditLimit.summary }).click();
    await dialog.getByText(`credit_limit: ${limit} is now 1500.00`).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await operate(sandbox.current(), `PUT /accounts/${DEMO_ACCOUNT}/credit-limit`, { credit_limit: limit });
  });

  test.each([
    ['setTldPrice', 'tld-prices/de', 'Actions for .de', ['create', 'renew', 'transfer'], { create: '7.77' }, 'Renew'],
    ['defineOsImage', 'os-images/debian_12', 'Actions for Debian 12', ['displayname', 'username'], { username: 'admin' }, 'Display name'],
    [
      'defineIpPool',
      'ip-pools/ams1-v4',
      'Actions for ams1-v4',
      ['datacenter', 'cidr', 'ddos_protection'],
      { ddos_protection: 'Voxility' },
      'DDoS protection',
    ],
  ] as const)(
    '%s with what another operator has just changed is refused, and says the change',
    async (id, resource, menu, members, change, field) => {
      const dialog = page.getByRole('dialog');
      await page.getByRole('link', { name: 'Catalogue' }).click();
      await page.getByRole('button', { name: menu, exact: true }).click();
      await page.getByRole('menuitem', { name: operations[id].summary }).click();
      const before = await operate(sandbox.current(), `GET /${resource}`);
      await expect.poll(() => dialog.getByLabel(field, { exact: true }).inputValue()).not.toBe('');
      const body = Object.fromEntries(members.map((member) => [member, before[member]]));
      const changed = await operate(sandbox.current(), `PUT /${resource}`, { ...body, ...change });
      await dialog.getByRole('button', { name: operations[id].summary }).click();
      for (const [name, value] of Object.entries(change)) await dialog.getByText(`${name}: ${before[name]} is now ${value}`).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(await operate(sandbox.current(), `GET /${resource}`)).toEqual(changed);
    },
  );

  test('a new TLD price does not replace the one of an existing TLD', async () => {
    const dialog = page.getByRole('dialog');
    const before = await operate(sandbox.current(), 'GET /tld-prices/fr');
    await page.getByRole('link', { name: 'Catalogue' }).click();
    await page.getByRole('button', { name: operations.setTldPrice.summary, exact: true }).click();
    await dialog.getByLabel('TLD', { exact: true }).fill('fr');
    for (const label of ['Create', 'Renew', 'Transfer']) await dialog.getByLabel(label, { exact: true }).fill('1.00');
    await dialog.getByRole('button', { name: operations.setTldPrice.summary }).click();
    await dialog.getByText(/The resource exists already/).waitFor();
    expect(await operate(sandbox.current(), 'GET /tld-prices/fr')).toEqual(before);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('axe finds nothing on any page, no page fails, and each fits on a phone', async () => {
    const { look, faults, close } = await openForPictures();
    for (const [index, { name, path }] of PAGES.entries()) {
      await openToLook(look, path);
      if (name === 'account') await look.locator('canvas').waitFor();
      // A usual run checks every twelfth page, each in one look.
      await inspect(look, name, (at) => isDeep || (index % 12 === 0 && at === (index / 12) % LOOKS.length));
    }
    expect(faults).toEqual([]);
    await close();
  });

  test('axe finds nothing in any dialog, and each fits on a phone', async () => {
    await bringAboutStates(sandbox.current());
    const { look, faults, close } = await openForPictures();
    const seen = new Set<string>();
    const dialog = look.getByRole('dialog');
    async function inspectDialog(): Promise<void> {
      await dialog.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
      const name = (await dialog.getAttribute('aria-label')) ?? '';
      const first = '.dialog :is(input, select, textarea, [data-cancel])';
      await look.waitForFunction((selector) => document.activeElement === document.querySelector(selector), first);
      if (!seen.has(name)) {
        const picture = `dialog-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
        // The first and the last look have both sizes and both schemes.
        await inspect(look, picture, (at) => at === LOOKS.length - 1 || (isDeep && at === 0));
      }
      seen.add(name);
      await look.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    for (const { path } of byDepth({ usual: PAGES.filter(({ name }) => name === 'vms'), deep: PAGES })) {
      await openToLook(look, path);
      const main = look.getByRole('main');
      const buttons = await main.locator('[aria-haspopup=dialog]').all();
      for (const button of buttons) {
        await button.click();
        await inspectDialog();
      }
      const menus = main.locator('.menu-trigger');
      for (let index = 0; index < Math.min(await menus.count(), MENUS_OF_A_PAGE); index++) {
        await menus.nth(index).click();
        const items = look.getByRole('menuitem');
        await items.first().waitFor();
        const names = await items.allTextContents();
        await look.keyboard.press('Escape');
        for (const [at, name] of names.entries()) {
          if (seen.has(name)) continue;
          await menus.nth(index).click();
          await items.nth(at).click();
          await inspectDialog();
        }
      }
    }
    const opened = Object.entries(operations).flatMap(([id, { summary }]) => (seen.has(summary) ? [id] : []));
    expect(opened).toEqual(expect.arrayContaining(['startVm', 'resizeVm', 'removeVm']));
    const changing = Object.entries(operations).flatMap(([id, { method }]) => (method === 'GET' ? [] : [id]));
    if (isDeep) expect(changing.filter((id) => !opened.includes(id)).toSorted()).toEqual(WITHOUT_DIALOG);
    expect(faults).toEqual([]);
    await close();
  });

  test('a failed job says why, and runs when the operator tries it again', { tags: 'deep' }, async () => {
    await changeStore(
      `create trigger broken before insert on invoices when new.account_id = '${DEMO_ACCOUNT}' begin select raise(abort, 'the page is damaged'); end`,
    );
    await operate(sandbox.current(), 'POST /sandbox/clock/advance', { by_seconds: 2_678_411 });
    await page.getByRole('link', { name: 'Jobs' }).click();
    const failed = page.getByRole('table', { name: 'Jobs that failed' });
    await failed.getByText('the page is damaged').waitFor();
    await changeStore('drop trigger broken');
    await failed.getByRole('button', { name: 'Actions for Demo reseller' }).click();
    await page.getByRole('menuitem', { name: 'Retry failed jobs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry failed jobs' }).click();
    await failed.waitFor({ state: 'detached' });
    // The jobs run one after another, within seconds.
    const overdue = async () => (await operate(sandbox.current(), 'GET /due-work')).overdue;
    await expect.poll(overdue).toBe(0);
  });

  test('a lost connection says so, and afterwards 10,000 VMs are a list of a few rows', async () => {
    const large = await accountWithVm(sandbox.current(), 'Large');
    await page.getByRole('link', { name: 'VMs' }).click();
    await row(large.vm).first().waitFor();
    const before = await page.getByRole('table').getAttribute('aria-rowcount');
    const other = await openContext(browser, { storageState: await watched.context.storageState() });
    await other.page.goto(`${sandbox.current().operatorUrl}/console/accounts`);
    await other.page.getByRole('heading', { name: 'Accounts' }).waitFor();
    await sandbox.stop();
    await page.getByText(/The connection to the service is lost/).waitFor();
    // This page was never loaded.
    await other.page.getByRole('link', { name: 'Audit' }).click();
    await other.page.getByRole('heading', { name: 'Accounts' }).waitFor({ state: 'hidden' });
    await addVms(large.accountId);
    await sandbox.start();
    await page.getByText(/The connection to the service is lost/).waitFor({ state: 'detached' });
    await other.page.getByRole('heading', { name: 'Audit' }).waitFor();
    await other.page.getByRole('table').waitFor();
    await other.context.close();
    const rows = Number(before) + MANY_VMS - 1;
    await page.locator(`table[aria-rowcount="${rows}"]`).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(100);
    const list = page.getByRole('region', { name: 'VMs' });
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.locator(`tr[aria-rowindex="${rows}"]`).waitFor();
    expect(await heapOf(page)).toBeLessThan(150_000_000);
    await page.getByRole('searchbox').fill('no such vm');
    await page.getByText('Nothing matches the filter').waitFor();
    await page.getByRole('searchbox').fill('');
  });

  test('purchases add rows to a long list, which is not read again as a whole', async () => {
    const table = page.getByRole('table');
    const before = Number(await table.getAttribute('aria-rowcount'));
    const sent: string[] = [];
    let bytes = 0;
    page.on('response', (response) => {
      sent.push(new URL(response.url()).pathname);
      void response.body().then(
        (body) => (bytes += body.length),
        () => {},
      );
    });
    const form = { cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'nl_ryzen' };
    for (let n = 0; n < PURCHASES; n++) await call(sandbox.current(), 'PUT /vm/create', form);
    await page.locator(`table[aria-rowcount="${before + PURCHASES}"]`).waitFor();
    page.removeAllListeners('response');
    expect(sent.filter((path) => path === '/vms')).toEqual([]);
    expect(sent.filter((path) => /^\/vms\/\d+$/.test(path))).toHaveLength(PURCHASES);
    // The rows, and the polls in the meantime.
    expect(sent.length).toBeLessThan(10 * PURCHASES);
    expect(bytes).toBeLessThan(200_000);
  });

  test('the pages of a removed VM and a terminated domain say whether they can be brought back', async () => {
    const { vm } = await accountWithVm(sandbox.current(), 'Removed');
    await operate(sandbox.current(), `DELETE /vms/${vm}`);
    await open(`vms/${vm}`);
    await page.getByText('A removed VM cannot be brought back.').waitFor();
    await operate(sandbox.current(), 'POST /domains/reseller-customer.net/terminate');
    await open('domains/reseller-customer.net');
    await page.getByText('POST /domain/reseller-customer.net/undelete').waitFor();
    const { status } = await call(sandbox.current(), 'POST /domain/reseller-customer.net/undelete');
    expect(status).toBe('success');
  });

  test('nothing failed in the page, and its policy refused nothing', async () => {
    expect(watched.faults).toEqual([]);
    const { headers } = await fetch(`${sandbox.current().operatorUrl}/console/`);
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self' ${sandbox.current().baseUrl}`,
    );
  });

  test('signing out asks for a token again, and an unknown one is refused', async () => {
    await open('accounts');
    await row('Demo reseller').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading('Sign in to the console').waitFor();
    expect(await watched.context.cookies()).toEqual([]);
    await page.getByLabel('Operator token').fill('rso_unknown');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText(/token/).waitFor();
    // The accounts that the page has shown before are gone: it waits for a response.
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    await page.route(/\/accounts(\?|$)/, (route) => answer.then(() => route.continue()));
    await page.getByLabel('Operator token').fill(sandbox.current().operatorToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading('Accounts').waitFor();
    expect(await row('Demo reseller').count()).toBe(0);
    resolve();
    await row('Demo reseller').waitFor();
  });
});

/** A page of its own for pictures, without the policy that keeps axe out. */
async function openForPictures() {
  const storageState = await watched.context.storageState();
  const { context, page: look, faults } = await openContext(browser, { storageState, bypassCSP: true });
  return { look, faults, close: () => context.close() };
}

async function openToLook(look: Page, path: string): Promise<void> {
  await look.goto(`${sandbox.current().operatorUrl}/console/${path}`);
  await look.locator('h1').waitFor();
  await look.waitForFunction(() => document.querySelector('[aria-busy=true]') === null && !document.body.innerText.includes('Loading'));
}

/** Opens the dialog of an operation on the newest key for the till. */
async function chooseForTill(id: keyof typeof operations): Promise<void> {
  await page.getByRole('button', { name: 'Actions for Till' }).last().click();
  await page.getByRole('menuitem', { name: operations[id].summary }).click();
}

/** Chooses the first item that the command palette shows for a name. */
async function choose(name: string): Promise<void> {
  const box = page.getByRole('combobox', { name: /^Page, account, action/ });
  await page.keyboard.press('Control+k');
  await box.and(page.locator(':focus')).waitFor();
  await page.keyboard.type(name);
  await page.getByRole('option').first().filter({ hasText: name }).waitFor();
  await page.keyboard.press('Enter');
  await box.waitFor({ state: 'detached' });
}

/** Presses Tab until an element has the focus. */
async function tabTo(target: ReturnType<Page['locator']>): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  expect.fail(`The keyboard does not reach ${String(target)}.`);
}

/** Bytes of the page's JavaScript after a garbage collection. */
async function heapOf(measured: Page): Promise<number> {
  const session = await measured.context().newCDPSession(measured);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/** Changes the store while the sandbox does not run. */
async function changeStore(statement: string): Promise<void> {
  await sandbox.stop();
  const store = new DatabaseSync(join(sandbox.dataDirectory, 'store.sqlite'));
  store.exec(statement);
  store.close();
  await sandbox.start();
  await page.getByText(/The connection to the service is lost/).waitFor({ state: 'detached' });
}

/** Copies the VM of an account in the data of the stopped sandbox. */
async function addVms(accountId: string): Promise<void> {
  const store = await openSqliteStore(sandbox.dataDirectory, { onFailedSync: (error) => expect.fail(error.message) });
  await store.commit(async ({ db }) => {
    const vms = await db.selectFrom('vms').select('id').where('account_id', '!=', accountId).execute();
    const firsts = Array.from({ length: 8 }, (_, block) => (block + 1) * MANY_VMS);
    const free = firsts.find((first) => vms.every(({ id }) => id < first || id > first + MANY_VMS));
    await copyVms(db, accountId, MANY_VMS, free);
  });
  await store.close();
}
