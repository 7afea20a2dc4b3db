/** The console of a real VM of QEMU in a real browser: a person sees its screen and types. */
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

import { memoryFence } from '@reseller/adapters';
import type { DoneOrStarted, FencingToken, VmOrder } from '@reseller/adapters';
import { qemuHypervisor } from '@reseller/adapters/qemu';
import type { QemuHypervisor } from '@reseller/adapters/qemu';
import { startService } from '@reseller/service/test/harness.ts';
import { TestHypervisor } from '@reseller/service/test/ports/hypervisor.ts';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { discard, leftOut as noQemu, outputIn, testImages, vmFolder } from '../../../packages/adapters/test/qemu.ts';

const leftOut = noQemu ?? noBrowser;
if (leftOut !== undefined) process.stderr.write(`Left out: the console of a VM of QEMU in a browser, because ${leftOut}.\n`);

const ORDER = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen', hostname: 'console-test' };

/** Pixels of a few letters: more than those of a cursor, which blinks. */
const LETTERS = 300;

/** The hypervisor of the tests, whose VMs are machines of QEMU. */
class Machines extends TestHypervisor {
  readonly #qemu: QemuHypervisor;

  constructor(qemu: QemuHypervisor) {
    super();
    this.#qemu = qemu;
  }

  override create(order: VmOrder, token: FencingToken): Promise<DoneOrStarted> {
    return this.#qemu.create({ ...order, os: 'test-linux', mem: 256 }, token);
  }

  override async stop(vmId: number, token: FencingToken): Promise<void> {
    await this.#qemu.stop(vmId, token);
  }

  override console(vmId: number): Promise<Duplex> {
    return this.#qemu.console?.(vmId) ?? expect.fail('The adapter has no console.');
  }
}

async function startWithVm() {
  const [directory, serviceId] = [vmFolder(), `console${process.pid}`];
  onTestFinished(() => discard(directory, serviceId));
  const options = { serviceId, fence: memoryFence(), directory, images: await testImages(), shutdownMs: 200, accelerator: 'tcg' } as const;
  const service = await startService({ hypervisor: new Machines(qemuHypervisor(options)) });
  const { body } = await service.call('createVm', { form: ORDER });
  const { identifier, config } = body.data;
  const folder = join(directory, `vm-${identifier}`);
  return { service, path: { vmid: String(identifier) }, folder, password: String(config.password) };
}

describe.skipIf(leftOut !== undefined)('the console of a VM of QEMU', () => {
  test('shows its screen in Chromium, takes keys, and ends with the VM', async () => {
    const { service, path, folder, password } = await startWithVm();
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
    const problems: string[] = [];
    let step = 'connecting';
    onTestFailed(() => void process.stderr.write(`It failed at the step "${step}". Problems of the page: ${problems.join(', ')}\n`));
    page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
    page.on('response', (response) => void (response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`)));
    page.on('pageerror', (error) => void problems.push(error.message));
    await page.goto((await service.call('openVmConsole', { path })).body.data.console_url);
    await page.getByText('Connected').waitFor();
    expect(page.url()).not.toContain('rsw_');
    const litPixels = () =>
      page.evaluate<number>(`(() => {
        const canvas = document.querySelector('canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, index) => index % 4 === 0 && value > 0x60).length;
      })()`);
    step = 'first pixels';
    await expect.poll(litPixels).toBeGreaterThan(0);
    step = 'login on the serial console';
    // The guest waits for a login on the screen before it does so on its serial console.
    await outputIn(folder, { username: 'root', password }, 'true');
    step = 'typed text';
    const before = await litPixels();
    await page.keyboard.type('hello-from-the-console');
    await expect.poll(litPixels).toBeGreaterThan(before + LETTERS);
    expect(problems).toEqual([]);
    step = 'end of the VM';
    expect((await service.call('setVmPower', { path, form: { mode: 'stop' } })).status).toBe(200);
    await page.getByText('The VM was stopped or restarted. Get a new link.').waitFor();
  });
});
