/** Whose the folders and files of VMs are. No machine runs. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { hasBackup } from './backup.ts';
import { foldersIn } from './folder.ts';
import type { VmMark } from './folder.ts';

const MARK: VmMark = {
  service: 'one',
  vmId: 7,
  token: 3,
  uuid: '6b1c7d20-8f4e-41c7-a2a9-0b13c7e2a90b',
  os: 'debian_12',
  hostname: 'seven',
  username: 'root',
  passwordHash: '$6$salt$hash',
  sshKey: null,
  cores: 1,
  mem: 1024,
  disk: 10,
  installation: 1,
  isWanted: true,
  ports: {},
};

function newFolders() {
  const root = mkdtempSync(join(tmpdir(), 'folders-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return { root, folders: foldersIn(root, 'one') };
}

/** Another program, or another service, keeps a folder. */
function put(root: string, name: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(root, name));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, name, file), text);
}

test('a folder appears with everything in it, in place of the draft that a crash left', async () => {
  const { root, folders } = newFolders();
  put(root, '.draft-one-7', { left: '' });
  await folders.create(MARK, async (draft) => {
    expect([readdirSync(draft), await folders.read(7)]).toEqual([[], undefined]);
    writeFileSync(join(draft, 'disk'), '');
  });
  expect([readdirSync(root), readdirSync(join(root, 'vm-7')).toSorted()]).toEqual([['vm-7'], ['disk', 'vm.json']]);
  expect(await folders.read(7)).toEqual(MARK);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['a VM of another service', { 'vm.json': JSON.stringify({ ...MARK, service: 'two' }), disk: 'theirs' }],
  ['a VM of the service', { 'vm.json': JSON.stringify(MARK), disk: 'ours' }],
  ['a folder of another program', { disk: 'theirs' }],
  ['an empty folder', {}],
])('%s is not replaced', async (_, files) => {
  const { root, folders } = newFolders();
  put(root, 'vm-7', files);
  await expect(folders.create({ ...MARK, token: 4 }, () => Promise.resolve())).rejects.toMatchObject({ name: 'ForeignResourceError' });
  const kept = readdirSync(join(root, 'vm-7')).map((file) => [file, readFileSync(join(root, 'vm-7', file), 'utf8')]);
  expect(Object.fromEntries(kept)).toEqual(files);
});

test('only a folder with the mark and the number of the VM is its own, and all others are named', async () => {
  const { root, folders } = newFolders();
  put(root, 'vm-7', { 'vm.json': JSON.stringify(MARK) });
  put(root, 'vm-8', { 'vm.json': JSON.stringify({ ...MARK, vmId: 8, service: 'two' }) });
  put(root, 'vm-9', { 'vm.json': JSON.stringify(MARK) });
  put(root, 'vm-x', { 'vm.json': JSON.stringify(MARK) });
  put(root, '.draft-one-7', {});
  writeFileSync(join(root, 'notes'), '');
  expect([await folders.list(), (await folders.foreign()).toSorted()]).toEqual([[MARK], ['notes', 'vm-8', 'vm-9', 'vm-x']]);
  for (const vmId of [8, 9]) await expect(folders.read(vmId)).rejects.toMatchObject({ name: 'ForeignResourceError' });
});

test('a VM that is given up is foreign, and its number is free', async () => {
  const { root, folders } = newFolders();
  await folders.create(MARK, () => Promise.resolve());
  await folders.release(MARK);
  expect([await folders.list(), await folders.foreign(), await folders.read(7)]).toEqual([[], ['released-7-3'], undefined]);
  expect(readdirSync(join(root, 'released-7-3'))).toEqual(['released-vm.json']);
});

test.each(['../vm-8/x', 'a/b', 'a b', '', 'a'.repeat(61)])("'%s' is not the name of a backup", (name) => {
  const { root } = newFolders();
  expect(() => hasBackup(root, name)).toThrow(`'${name}' is not a valid name of a backup.`);
  expect(hasBackup(root, 'a'.repeat(60))).toBe(false);
});
