import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';

/** The processor of the guests by accelerator. */
export const CPUS = { kvm: 'host', tcg: 'max' } as const;

const PROBE_TIMEOUT_MS = 3_000;
/** `timeout` ends the probe also when this process is killed. A guest that hangs would occupy a core forever. */
const PROBE = [
  ['--signal=KILL', '5', 'qemu-system-x86_64'],
  ['-machine', 'pc', '-accel', 'kvm', '-cpu', CPUS.kvm, '-m', '32', '-nodefaults', '-display', 'none', '-no-reboot'],
  ['-chardev', 'stdio,id=debug', '-device', 'isa-debugcon,iobase=0x402,chardev=debug'],
].flat();

/**
 * KVM if guests run with it, or else emulation. In some containers /dev/kvm can be opened and QEMU starts, but the guest hangs, or QEMU cannot give
 * it the processor of the host. So a machine without a disk has to come to the end of its firmware, which takes 0.3 s.
 */
export async function usableAccelerator(): Promise<'kvm' | 'tcg'> {
  try {
    await access('/dev/kvm', constants.R_OK | constants.W_OK);
  } catch {
    return 'tcg';
  }
  return (await firmwareRuns()) ? 'kvm' : 'tcg';
}

function firmwareRuns(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn('timeout', PROBE, { stdio: ['ignore', 'pipe', 'ignore'] });
  const timer = setTimeout(() => resolve(false), PROBE_TIMEOUT_MS);
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += String(bytes);
    if (printed.includes('No bootable device')) resolve(true);
  });
  child.once('error', () => resolve(false));
  child.once('exit', () => resolve(false));
  return promise.finally(() => {
    clearTimeout(timer);
    child.kill();
  });
}
