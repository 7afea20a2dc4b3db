/** The page that compares the hypervisor with the store, on a sandbox with QEMU, in whose folder another program has put a machine. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { describe, expect, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { startSandbox } from '../../../.config/sandbox.ts';
import { leftOut } from '../../../packages/adapters/test/qemu.ts';
import { operations } from '../src/document/operations.data.ts';
import { consoleLink, openContext, overflowOf, PHONE } from './browser.ts';
import { inspect } from './pictures.ts';

const LOST_VM = 48_999;
const missing = noBrowser ?? leftOut;

describe.skipIf(missing !== undefined)(`the page of differences${missing === undefined ? '' : `: ${missing}`}`, () => {
  test('says on a phone what a difference means', { tags: 'deep' }, async () => {
    const sandbox = await startSandbox({ RESELLER_HYPERVISOR: 'qemu' });
    onTestFinished(() => sandbox.stop());
    mkdirSync(join(sandbox.dataDirectory, 'adapters/qemu/machine-of-the-team'));
    addMachine(sandbox.dataDirectory, LOST_VM);
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const { page } = await openContext(browser, { viewport: PHONE });
    await page.goto(consoleLink(sandbox));
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
    await page.goto(`${sandbox.operatorUrl}/console/reconcile`);
    const meaning = page.getByText(/machine-of-the-team does not carry the mark of this service/).filter({ visible: true });
    await meaning.waitFor();
    expect((await meaning.boundingBox())?.width).toBeGreaterThan(100);
    expect(await overflowOf(page)).toBe(0);
    for (const id of ['adoptVm', 'releaseVm'] as const) {
      await page.getByRole('button', { name: `Actions for vm-${LOST_VM}` }).click();
      await page.getByRole('menuitem', { name: operations[id].summary }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).waitFor();
      await inspect(page, `dialog-${id}`, () => false);
      await page.setViewportSize(PHONE);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });
});

/** Puts a stopped machine with the mark of the service into its folder, as a backup of an earlier day does. */
function addMachine(dataDirectory: string, vmId: number): void {
  const store = new DatabaseSync(join(dataDirectory, 'store.sqlite'), { readOnly: true });
  const identity = store.prepare('select service_id from identity').get();
  store.close();
  const folder = join(dataDirectory, `adapters/qemu/vm-${vmId}`);
  mkdirSync(folder);
  const machine = { vmId, os: 'debian_12', hostname: 'restored', username: 'root', sshKey: null, cores: 2, mem: 4_096, disk: 40 };
  const mark = {
    ...machine,
    service: identity?.['service_id'],
    token: 1,
    uuid: randomUUID(),
    passwordHash: '',
    installation: 1,
    isWanted: false,
    ports: {},
  };
  writeFileSync(join(folder, 'vm.json'), JSON.stringify(mark));
}
