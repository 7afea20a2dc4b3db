/** The page that compares the hypervisor with the store, on a sandbox with QEMU, in whose folder another program has put a machine. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { startSandbox } from '../../../.config/sandbox.ts';
import { leftOut } from '../../../packages/adapters/test/qemu.ts';
import { consoleLink, openContext, overflowOf, PHONE } from './browser.ts';

const missing = noBrowser ?? leftOut;

describe.skipIf(missing !== undefined)(`the page of differences${missing === undefined ? '' : `: ${missing}`}`, () => {
  test('says on a phone what a difference means', { timeout: 120_000 }, async () => {
    const sandbox = await startSandbox({ RESELLER_HYPERVISOR: 'qemu' });
    onTestFinished(() => sandbox.stop());
    mkdirSync(join(sandbox.dataDirectory, 'adapters/qemu/machine-of-the-team'));
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
  });
});
