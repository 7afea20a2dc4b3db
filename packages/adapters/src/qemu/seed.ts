/**
 * The seed: a CD-ROM with hostname, user, password, SSH key and user data, which cloud-init (NoCloud) and our test image read at the first boot of
 * an installation. User and password are vendor data, which the user data can add to and override.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { VmMark } from './folder.ts';
import { run } from './programs.ts';

export const SEED_FILE = 'seed.iso';

/** Writes the seed into a folder, in one step. */
export async function writeSeed(folder: string, mark: VmMark): Promise<void> {
  const files = { 'meta-data': metaData(mark), 'vendor-data': vendorData(mark), 'user-data': mark.userData ?? '' };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  const draft = `${SEED_FILE}.draft`;
  await run('genisoimage', ['-quiet', '-output', draft, '-volid', 'cidata', '-joliet', '-rock', ...Object.keys(files)], { cwd: folder });
  await rename(join(folder, draft), join(folder, SEED_FILE));
  for (const name of Object.keys(files)) await rm(join(folder, name));
}

/**
 * The hash of a password as in /etc/shadow. The password is passed by standard input, because every user can read the arguments of a process.
 *
 * @param salt That of another hash, to compare with it. Default: a new one.
 */
export async function hashOfPassword(password: string, salt?: string): Promise<string> {
  return (
    await run('openssl', ['passwd', '-6', '-stdin', ...(salt === undefined ? [] : ['-salt', salt])], { input: `${password}\n` })
  ).trim();
}

function metaData({ vmId, installation, hostname }: VmMark): string {
  return `instance-id: ${JSON.stringify(`${vmId}-${installation}`)}\nlocal-hostname: ${JSON.stringify(hostname)}\n`;
}

/** Each value is a JSON text, which is also YAML, on a line of its own. */
function vendorData({ username, passwordHash, sshKey }: VmMark): string {
  return `#cloud-config
ssh_pwauth: true
disable_root: false
users:
  - name: ${JSON.stringify(username)}
    shell: "/bin/bash"
    sudo: "ALL=(ALL) NOPASSWD:ALL"
    lock_passwd: false
    passwd: ${JSON.stringify(passwordHash)}
${sshKey === null ? '' : `    ssh_authorized_keys:\n      - ${JSON.stringify(sshKey)}\n`}`;
}
