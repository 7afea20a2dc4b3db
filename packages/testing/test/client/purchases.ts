/** Calls of each operation of the document that costs money. */
import type { Call, RequestOptions, Reseller } from '@reseller/client';
import { parseDocument, readOperations } from '@reseller/contract';
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { listMarketItems, orderDedicatedServer, terminateDomain } from '@reseller/operator-client';
import { forms } from '@reseller/testing';
import type { ServiceInside as TestService } from '@reseller/testing/inside';

/** One purchase, ready to be made. */
export interface Purchase {
  readonly path: string;
  /** Number of times that it was carried out, counted in the store. */
  kept(): Promise<number>;
  make(options?: RequestOptions): Call<unknown>;
}

/** Creates the resources that a purchase needs. */
type Preparation = (service: TestService, reseller: Reseller) => Promise<Purchase>;

export const SMALL_VM = forms.createVm.smallest;

/** One entry for each operation of the document with `x-billable`. */
const preparations: Readonly<Record<string, Preparation>> = {
  createVm: async (service, reseller) => ({
    path: '/vm/create',
    kept: () => vmsOf(service),
    make: (options) => reseller.vm.create(SMALL_VM, options),
  }),
  registerDomain: async ({ store }, reseller) => {
    const { handle } = await reseller.domain.handle.create(forms.createHandle.withPhone);
    const form = { ...forms.registerDomain.register, handle };
    return {
      path: '/domain/register',
      kept: async () =>
        (await store.read((db) => db.selectFrom('domains').select('name').where('state', '=', 'registered').execute())).length,
      make: (options) => reseller.domain.register(form, options),
    };
  },
  undeleteDomain: async ({ operator, store }, reseller) => {
    const { handle } = await reseller.domain.handle.create(forms.createHandle.withPhone);
    const { domain } = await reseller.domain.register({ ...forms.registerDomain.register, handle });
    await terminateDomain({ client: operator, path: { domain: domain.name } });
    return {
      path: `/domain/${domain.name}/undelete`,
      kept: async () => (await store.read((db) => db.selectFrom('domains').select('name').where('terminated', '=', 0).execute())).length,
      make: (options) => reseller.domain.undelete(domain.name, options),
    };
  },
  undeleteDedicatedServer: async ({ operator, store, accountId, advance }, reseller) => {
    const [offer] = (await listMarketItems({ client: operator })).items;
    const { id } = await orderDedicatedServer({ client: operator, body: { account_id: accountId, market_id: offer?.id ?? '' } });
    // The simulated fleet completes a set-up within a quarter of an hour.
    await advance(900_000);
    await reseller.dedicated.delete(id);
    return {
      path: `/dedicated/${id}/undelete`,
      kept: async () =>
        (
          await store.read((db) =>
            db.selectFrom('dedicated_servers').select('id').where('account_id', '=', accountId).where('terminated', '=', 0).execute(),
          )
        ).length,
      make: (options) => reseller.dedicated.undelete(id, options),
    };
  },
};

export const billable: readonly string[] = readOperations(parseDocument(document))
  .filter((operation) => operation.billable)
  .map(({ id }) => id);

/** @throws Error if this file has no preparation for the operation. */
export function preparationOf(operation: string): Preparation {
  const preparation = preparations[operation];
  if (!preparation)
    throw new Error(`${operation} costs money. Say in purchases.ts how it is called, so that its purchases are tested too.`);
  return preparation;
}

/** Counts the effects of an operation in the service's own store, because a repeated request returns the first response. */
export async function effectsOf({ store }: TestService, { path }: Purchase): Promise<number> {
  const entries = await store.read((db) =>
    db.selectFrom('request_log').select(['response_body', 'request_id']).where('endpoint', '=', path).where('success', '=', 1).execute(),
  );
  return new Set(entries.map(({ response_body: body }) => body)).size;
}

/** How many VMs there are, whatever the log says. */
export async function vmsOf({ store }: TestService): Promise<number> {
  return (await store.read((db) => db.selectFrom('vms').select('id').execute())).length;
}
