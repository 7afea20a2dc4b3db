/** The mark x-evidence of an operation is true of the service: no second equal call succeeds. */
import { createReseller } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import { parseDocument, readOperations, valueAt } from '@reseller/contract';
import service from '@reseller/openapi/service.json' with { type: 'json' };
import { forms } from '@reseller/testing';
import { createServiceInside } from '@reseller/testing/inside';
import { expect, onTestFinished, test } from 'vitest';

const document = parseDocument(service);
const marked = readOperations(document)
  .filter(({ pointer }) => typeof Object(valueAt(document, pointer))['x-evidence'] === 'string')
  .map(({ id }) => id);

const VM = forms.createVm.smallest;

async function register({ domain }: Reseller): Promise<string> {
  const { handle } = await domain.handle.create(forms.createHandle.withPhone);
  return (await domain.register({ ...forms.registerDomain.register, handle })).domain.name;
}

/** Prepares an operation. Returns what calls it, with the same input each time. */
const calls: Readonly<Record<string, (reseller: Reseller) => Promise<() => Promise<unknown>>>> = {
  async registerDomain({ domain }) {
    const { handle } = await domain.handle.create(forms.createHandle.withPhone);
    return () => domain.register({ ...forms.registerDomain.register, handle });
  },
  async purchaseDedicatedServer({ dedicated }) {
    const [offer] = await dedicated.available();
    return () => dedicated.purchase(offer?.identifier ?? '');
  },
  async deleteVm({ vm }) {
    const { identifier } = await vm.create(VM);
    return () => vm.delete(identifier);
  },
  async deleteVmBackup({ vm }) {
    const { identifier } = await vm.create({ ...VM, backup_slots: 2 });
    const { backup_id: backup } = await vm.backup.create(identifier, {});
    return () => vm.backup.delete(identifier, backup);
  },
  async removeSshKey({ vm }) {
    const key = await vm.sshKey.add({
      displayname: 'laptop',
      ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7xZ7RkYl2uM2oTq3aJ2oVd1q9o3b8m3r1q2s3t4u5v laptop',
    });
    return () => vm.sshKey.remove(key.ssh_key_id);
  },
  async removeWebhook({ account }) {
    const { webhook_id: webhook } = await account.webhooks.add({ url: 'http://127.0.0.1:9/', events: '*' });
    return () => account.webhooks.remove(webhook);
  },
  async removeDomainDns(reseller) {
    const name = await register(reseller);
    const { record_id: record } = await reseller.domain.dns.add(name, { type: 'A', sub: 'www', data: '192.0.2.1' });
    return () => reseller.domain.dns.remove(name, record);
  },
};

test.each(marked)('%s succeeds once, and the second equal call is refused', async (id) => {
  const inside = await createServiceInside();
  onTestFinished(() => inside.close());
  const { apiKey, fetch, clock } = inside;
  const prepare = calls[id];
  if (!prepare) throw new Error(`${id} has x-evidence. Say here how it is called, so that the mark is tested.`);
  const call = await prepare(createReseller({ apiKey, baseUrl: 'http://reseller.test', fetch, clock }));
  await call();
  await expect(call()).rejects.toMatchObject({ uncertain: false, status: expect.any(Number) });
});
