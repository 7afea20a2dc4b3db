/** QEMU for tests: the folder of a hypervisor, and what a person sees of its VMs from outside and inside. */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { VmOrder } from '../src/index.ts';
import { buildTestImage, missingForImage, missingPackages, TEST_IMAGE } from '../src/qemu/hypervisor.ts';

/** Why QEMU cannot be tested here; undefined if it can. */
export const leftOut: string | undefined = reason();

/** Kept between runs, because it takes 4 s to build. It is built again when its sources change. */
const IMAGES = join(import.meta.dirname, `../node_modules/.cache/test-image-${hashOfSources()}`);

export const ORDER: VmOrder = {
  vmId: 48_213,
  node: 'node-1',
  cores: 1,
  mem: 192,
  disk: 10,
  storage: null,
  networkSpeed: 1_000,
  backupSlots: 2,
  ipv4: [],
  ipv6: [],
  os: 'test-linux',
  hostname: 'my-machine',
  username: 'root',
  password: 'First-Password-1',
  sshKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBVs one@example.com',
  userData: null,
};

function reason(): string | undefined {
  if (process.platform !== 'linux') return 'QEMU is tested on Linux only';
  const missing = [...missingPackages(), ...missingForImage()];
  return missing.length > 0 ? `these packages are missing: ${missing.join(', ')}. .config/install-infrastructure installs them` : undefined;
}

function hashOfSources(): string {
  const scripts = join(import.meta.dirname, '../image');
  const files = [join(import.meta.dirname, '../src/qemu/image.ts'), ...readdirSync(scripts).map((name) => join(scripts, name))];
  return hash('sha256', files.map((file) => readFileSync(file, 'utf8')).join('\0')).slice(0, 12);
}

/** The folder of the test image and of `rescue.iso`, which are built if they are missing. */
export async function testImages(): Promise<string> {
  mkdirSync(IMAGES, { recursive: true });
  await buildTestImage(IMAGES);
  buildIso();
  return IMAGES;
}

/** Links the files of `testImages` in a new folder, under the name of an operating system that a catalogue sells. */
export async function linkTestImages(folder: string, os: string): Promise<void> {
  const built = await testImages();
  mkdirSync(folder);
  for (const file of readdirSync(built)) symlinkSync(join(built, file), join(folder, file.replace(TEST_IMAGE, os)));
}

const ISOLINUX = ['/usr/lib/ISOLINUX/isolinux.bin', '/usr/lib/syslinux/modules/bios/ldlinux.c32'];

/** Whether an ISO file that boots can be made here. */
export const makesIsos: boolean = ISOLINUX.every((file) => existsSync(file));

/** Makes `rescue.iso`, which boots the kernel of the test image with the parameter `from-iso`. */
function buildIso(): void {
  if (!makesIsos || existsSync(join(IMAGES, 'rescue.iso'))) return;
  const disc = mkdtempSync(join(IMAGES, '.disc-'));
  for (const file of ISOLINUX) cpSync(file, join(disc, basename(file)));
  for (const name of ['kernel', 'initrd']) cpSync(join(IMAGES, `${TEST_IMAGE}.${name}`), join(disc, name));
  writeFileSync(
    join(disc, 'isolinux.cfg'),
    'default rescue\nlabel rescue\nlinux kernel\ninitrd initrd\nappend console=ttyS0 quiet from-iso\n',
  );
  const draft = `${disc}.draft`;
  const boot = ['-b', 'isolinux.bin', '-c', 'boot.cat', '-no-emul-boot', '-boot-load-size', '4', '-boot-info-table'];
  execFileSync('genisoimage', ['-quiet', '-rock', ...boot, '-output', draft, disc]);
  renameSync(draft, join(IMAGES, 'rescue.iso'));
  rmSync(disc, { recursive: true });
}

/** An empty folder for VMs. */
export function vmFolder(): string {
  return mkdtempSync(join(tmpdir(), 'qemu-test-'));
}

/** The processes of QEMU that run VMs of a service, or one VM. */
export function processesOf(serviceId: string, vmId: number | '' = ''): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const given = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return given.some((argument) => argument.startsWith(`guest=reseller-${serviceId}-vm-${vmId}`)) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

/** Ends the VMs that a test left, and removes their folder. */
export function discard(folder: string, serviceId: string): void {
  for (const pid of processesOf(serviceId)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

/** The facts that the page inside a VM shows, as soon as the VM has booted. */
export async function factsOf(port: number | undefined, isExpected: (facts: Facts) => boolean = () => true): Promise<Facts> {
  let limitMs = 2_000;
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/cgi-bin/facts`, { signal: AbortSignal.timeout(limitMs) });
      const facts: Facts = JSON.parse(await response.text());
      if (isExpected(facts)) return facts;
    } catch (error) {
      // A guest that boots loses requests. One that is slow still works on those that were given up.
      if (error instanceof DOMException && error.name === 'TimeoutError') limitMs *= 2;
    }
    await wait(100);
  }
}

export interface Facts {
  readonly hostname: string;
  readonly cores: number;
  readonly memory_mib: number;
  readonly disk_bytes: number;
  readonly user: string;
  readonly authorized_key: string;
  readonly boots: number;
  readonly instance: string;
  /** Separated by spaces. */
  readonly addresses: string;
}

interface Login {
  readonly username: string;
  readonly password: string;
}

/** Logs in on the serial console. @returns Whether the guest accepted the password. */
export async function logsIn(folder: string, login: Login): Promise<boolean> {
  return (await outputIn(folder, login, 'true')) !== undefined;
}

/** Runs a command on the serial console. @returns Its output; undefined if the guest did not accept the password. */
export async function outputIn(folder: string, { username, password }: Login, command: string): Promise<string | undefined> {
  const socket = createConnection(join(folder, 'console.sock'));
  let printed = '';
  let resume = () => {};
  socket.on('data', (bytes) => {
    printed += String(bytes);
    resume();
  });
  async function until(pattern: RegExp): Promise<string> {
    while (!pattern.test(printed)) await new Promise<void>((resolve) => (resume = resolve));
    const seen = printed;
    printed = '';
    return seen;
  }
  // The guest drops what it receives before it waits for a login, and a message of its kernel may follow its prompt.
  const asking = setInterval(() => socket.write('\n'), 1_000);
  try {
    socket.write('\n');
    await until(/login: $/);
    clearInterval(asking);
    socket.write(`${username}\n`);
    await until(/Password: $/);
    socket.write(`${password}\n`);
    const answer = await until(/incorrect|[#$] /);
    if (answer.includes('incorrect')) return undefined;
    socket.write(`${command}; echo end:$?\n`);
    // The terminal shows the command before its output.
    const [, ...lines] = (await until(/^end:\d+\r?\n/m)).split(/\r?\n/);
    socket.write('exit\n');
    await until(/login: $/);
    return lines
      .slice(
        0,
        lines.findIndex((line) => /^end:\d+$/.test(line)),
      )
      .join('\n');
  } finally {
    clearInterval(asking);
    socket.destroy();
  }
}
