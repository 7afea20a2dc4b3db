import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';

/** The processor of the guests by accelerator. */
export const CPUS = { kvm: 'host', tcg: 'max' } as const;

const PROBE_SECONDS = 5;
const MACHINE = ['-machine', 'pc', '-m', '128', '-nodefaults', '-display', 'none', '-no-reboot', '-chardev', 'stdio,id=output'];

/**
 * Returns KVM if guests run with it, or else emulation.
 *
 * @param kernel The path of a Linux kernel. Without one, only the firmware is probed.
 */
export async function usableAccelerator(kernel: string | undefined): Promise<'kvm' | 'tcg'> {
  try {
    await access('/dev/kvm', constants.R_OK | constants.W_OK);
  } catch {
    return 'tcg';
  }
  return (await runsGuests('kvm', kernel)) ? 'kvm' : 'tcg';
}

/** The arguments of a machine without a disk, and the text that its kernel or its firmware prints at the end. */
function guestOf(kernel: string | undefined): { readonly given: readonly string[]; readonly end: string } {
  if (kernel === undefined) return { given: ['-device', 'isa-debugcon,iobase=0x402,chardev=output'], end: 'No bootable device' };
  return { given: ['-serial', 'chardev:output', '-kernel', kernel, '-append', 'console=ttyS0 quiet panic=-1'], end: 'Kernel panic' };
}

/**
 * Whether a machine without a disk comes to the end of its kernel, or of its firmware, within a number of seconds. In some containers and nested machines,
 * /dev/kvm can be opened and QEMU starts, but the guest hangs, some not before their kernel, or QEMU cannot give it the processor of the host.
 */
export async function runsGuests(
  accelerator: keyof typeof CPUS,
  kernel: string | undefined,
  seconds: number = PROBE_SECONDS,
): Promise<boolean> {
  const { given, end } = guestOf(kernel);
  const qemu = ['qemu-system-x86_64', ...MACHINE, '-accel', accelerator, '-cpu', CPUS[accelerator], ...given];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // `timeout` ends the probe also when this process is killed. A guest that hangs would occupy a core forever.
  const child = spawn('timeout', ['--signal=KILL', String(seconds), ...qemu], { stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += String(bytes);
    if (printed.includes(end)) resolve(true);
  });
  child.once('error', () => resolve(false));
  child.once('close', () => resolve(false));
  return promise.finally(() => child.kill());
}
