import type { TestService } from './harness.ts';

/** Lets released addresses be given again at once, in the order of their pools, as if they had never been used. */
export async function endQuarantine({ store }: Pick<TestService, 'store'>): Promise<void> {
  await store.commit(({ db }) => db.updateTable('ip_addresses').set({ released: 0 }).execute());
}
