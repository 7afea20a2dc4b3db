/** Whether guests run with an accelerator, found by real machines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { POLL_LIMIT_MS } from '../../../../.config/depth.ts';
import { leftOut, testImages } from '../../test/qemu.ts';
import { runsGuests, usableAccelerator } from './accelerator.ts';
import { TEST_IMAGE } from './image.ts';

const LIMIT_SECONDS = POLL_LIMIT_MS / 1000;

const testKernel = async () => join(await testImages(), `${TEST_IMAGE}.kernel`);

/** A kernel in the Multiboot format, whose only instruction jumps to itself. */
function hangingKernel(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [magic, hasAddresses, start, end] = [0x1b_ad_b0_02, 0x1_00_00, 0x10_00_00, 0x10_10_00];
  const header = [magic, hasAddresses, -(magic + hasAddresses), start, start, end, end, start + 32];
  const kernel = Buffer.concat([new Uint8Array(Int32Array.from(header).buffer), Buffer.from([0xeb, 0xfe])], 4096);
  writeFileSync(join(folder, 'kernel'), kernel);
  return join(folder, 'kernel');
}

describe.skipIf(leftOut !== undefined)('an accelerator of QEMU', () => {
  test('runs guests if a kernel or the firmware comes to its end', async () => {
    expect(await runsGuests('tcg', await testKernel(), LIMIT_SECONDS)).toBe(true);
    expect(await runsGuests('tcg', undefined, LIMIT_SECONDS)).toBe(true);
  });

  test('does not run guests if a kernel hangs, is missing, or takes longer than the limit', async () => {
    expect(await runsGuests('tcg', hangingKernel(), 1)).toBe(false);
    expect(await runsGuests('tcg', '/nowhere/kernel', LIMIT_SECONDS)).toBe(false);
    expect(await runsGuests('tcg', await testKernel(), 0.1)).toBe(false);
  });

  test('is KVM only if a kernel runs with it', async () => {
    const kernel = await testKernel();
    const chosen = await usableAccelerator(kernel);
    expect(await runsGuests(chosen, kernel, LIMIT_SECONDS)).toBe(true);
  });
});
