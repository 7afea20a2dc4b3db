/** Builds the test image: a small Linux from Debian's kernel for virtual machines and its static busybox. */
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { missingPackages, run } from './programs.ts';

/** The scripts of the image: next to a bundle, or in the package, at the same place relative to its sources and to its compiled code. */
const SCRIPTS = [join(import.meta.dirname, 'image'), join(import.meta.dirname, '../../image')].find((folder) => existsSync(folder)) ?? '';
/** Where `.config/install-infrastructure` puts the package of the kernel. */
const KERNEL_FOLDER = '/var/cache/reseller-infrastructure';
const BUSYBOX = '/bin/busybox';
const DISK_SIZE = '48M';
/** The drivers of the devices that the adapter gives to a VM, and the file system of the seed. */
const MODULES = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console', 'virtio_rng', 'isofs'];
const PROGRAMS = { busybox: 'busybox-static', 'mkfs.ext4': 'e2fsprogs', 'dpkg-deb': 'dpkg' };

/** The name of the image that serves every operating system without an image of its own. */
export const TEST_IMAGE = 'test-linux';

/**
 * Puts the test image into a folder, unless it is there: `test-linux.qcow2`, `test-linux.kernel` and `test-linux.initrd`.
 *
 * @throws ProgramError if the kernel can neither be found nor downloaded.
 */
export async function buildTestImage(folder: string): Promise<void> {
  if (existsSync(join(folder, `${TEST_IMAGE}.qcow2`))) return;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'reseller-image-'));
  try {
    const kernel = await unpackKernel(work);
    await writeInitrd(work, kernel);
    await writeDisk(work);
    cpSync(globSync(join(kernel, 'boot/vmlinuz-*'))[0] ?? '', join(folder, `${TEST_IMAGE}.kernel`));
    cpSync(join(work, 'initrd.gz'), join(folder, `${TEST_IMAGE}.initrd`));
    // The disk is last, because its presence means that the image is complete.
    cpSync(join(work, 'disk.qcow2'), join(folder, '.disk.draft'));
    renameSync(join(folder, '.disk.draft'), join(folder, `${TEST_IMAGE}.qcow2`));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The Debian packages without which the image cannot be built. */
export function missingForImage(): string[] {
  return missingPackages(PROGRAMS);
}

async function unpackKernel(work: string): Promise<string> {
  const [kept] = globSync(join(KERNEL_FOLDER, 'linux-image-*.deb'));
  const archive = kept ?? (await downloadKernel(work));
  const kernel = join(work, 'kernel');
  await run('dpkg-deb', ['--extract', archive, kernel]);
  return kernel;
}

async function downloadKernel(work: string): Promise<string> {
  const depends = await run('apt-cache', ['depends', 'linux-image-cloud-amd64']);
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1] ?? 'linux-image-cloud-amd64';
  await run('apt-get', ['download', name], { cwd: work, timeoutMs: 300_000 });
  return join(work, readdirSync(work).find((file) => file.endsWith('.deb')) ?? '');
}

async function writeInitrd(work: string, kernel: string): Promise<void> {
  const root = join(work, 'initrd');
  mkdirSync(join(root, 'modules'), { recursive: true });
  mkdirSync(join(root, 'bin'));
  cpSync(BUSYBOX, join(root, 'bin/busybox'));
  symlinkSync('busybox', join(root, 'bin/sh'));
  script('initrd-init', join(root, 'init'));
  const found = new Map(globSync(join(kernel, 'lib/modules/*/kernel/**/*.ko')).map((file) => [moduleName(basename(file, '.ko')), file]));
  const modules = [...new Set(MODULES.flatMap((name) => withDependencies(name, found)))];
  for (const name of modules) cpSync(found.get(name) ?? '', join(root, 'modules', `${name}.ko`));
  writeFileSync(join(root, 'modules/order'), modules.map((name) => `${name}.ko\n`).join(''));
  await run('sh', ['-c', `find . | busybox cpio -o -H newc 2> /dev/null | gzip -9 > ${JSON.stringify(join(work, 'initrd.gz'))}`], {
    cwd: root,
  });
}

/** A module after those that it needs. A driver that is part of the kernel has no file. */
function withDependencies(name: string, found: ReadonlyMap<string, string>): string[] {
  const file = found.get(name);
  if (file === undefined) return [];
  const [, depends = ''] = /\0depends=([^\0]*)\0/.exec(readFileSync(file, 'latin1')) ?? [];
  return [...depends.split(',').flatMap((needed) => withDependencies(moduleName(needed), found)), name];
}

/** Files and dependencies write the same name with either character. */
function moduleName(name: string): string {
  return name.replaceAll('-', '_');
}

async function writeDisk(work: string): Promise<void> {
  const root = join(work, 'disk');
  for (const folder of ['bin', 'sbin', 'etc', 'var', 'proc', 'sys', 'dev', 'run', 'tmp', 'root', 'home', 'www/cgi-bin'])
    mkdirSync(join(root, folder), { recursive: true });
  cpSync(BUSYBOX, join(root, 'bin/busybox'));
  symlinkSync('busybox', join(root, 'bin/sh'));
  for (const name of ['init', 'set-password', 'guest-agent', 'udhcpc-script']) script(name, join(root, 'sbin', name));
  for (const name of ['facts', 'index.cgi']) script(name, join(root, 'www/cgi-bin', name));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n');
  writeFileSync(join(root, 'etc/shadow'), 'root:*:19000:0:99999:7:::\n', { mode: 0o600 });
  const raw = join(work, 'disk.raw');
  await run('mkfs.ext4', ['-q', '-F', '-d', root, '-E', 'root_owner=0:0', raw, DISK_SIZE]);
  await run('qemu-img', ['convert', '-c', '-f', 'raw', '-O', 'qcow2', raw, join(work, 'disk.qcow2')]);
}

function script(name: string, path: string): void {
  cpSync(join(SCRIPTS, name), path);
  chmodSync(path, 0o755);
}
