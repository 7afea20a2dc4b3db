/**
 * The seed: a CD-ROM with hostname, user, password, SSH key and user data, which cloud-init (NoCloud) and our test image read at the first boot of
 * an installation. User and password are vendor data, which the user data can add to and override. They read the addresses at each boot.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { macOf } from './folder.ts';
import type { VmMark } from './folder.ts';
import { run } from './programs.ts';

export const SEED_FILE = 'seed.iso';

/** Writes the seed into a folder, in one step. */
export async function writeSeed(folder: string, mark: VmMark): Promise<void> {
  const files = {
    'meta-data': metaData(mark),
    'vendor-data': vendorData(mark),
    'user-data': mark.userData ?? '',
    'network-config': networkConfig(mark),
  };
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

/** The network gives the first address by DHCP, or forwards ports. The guest has those of the VM besides. */
function networkConfig(mark: VmMark): string {
  const { ipv4 = [], ipv6 = [] } = mark;
  // The first address of the network is its VM's: `2001:db8::/64` becomes `2001:db8::1/64`.
  const addresses = [...ipv4.map((address) => `${address}/32`), ...ipv6.map((network) => network.replace('::/', '::1/'))];
  return `version: 2
ethernets:
  net:
    match:
      macaddress: ${JSON.stringify(macOf(mark))}
    dhcp4: true
${addresses.length === 0 ? '' : `    addresses:\n${addresses.map((address) => `      - ${JSON.stringify(address)}\n`).join('')}`}`;
}

/** Each value is a JSON text, which is also YAML, on a line of its own. */
function vendorData({ username, passwordHash, sshKey }: VmMark): string {
  return `#cloud-config
ssh_pwauth: true
updates:
  network:
    when: [boot-new-instance, boot]
disable_root: false
users:
  - name: ${JSON.stringify(username)}
    shell: "/bin/bash"
    sudo: "ALL=(ALL) NOPASSWD:ALL"
    lock_passwd: false
    passwd: ${JSON.stringify(passwordHash)}
${sshKey === null ? '' : `    ssh_authorized_keys:\n      - ${JSON.stringify(sshKey)}\n`}`;
}
