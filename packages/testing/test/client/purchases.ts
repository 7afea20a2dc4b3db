/** How each operation that costs money is called in tests, over all such operations of the document. */
import { parseDocument, readOperations } from '@reseller/contract';
import type { CallOptions, Operations } from '@reseller/client';
import type { Reseller } from '@reseller/client';
import document from '@reseller/openapi/openapi.json' with { type: 'json' };

import { forms } from '@reseller/testing';
import type { TestService } from '@reseller/testing';

/** One purchase, ready to be made. */
export interface Purchase {
  readonly path: string;
  make(options?: CallOptions): ReturnType<Operations[keyof Operations]>;
}

/** Makes all that a purchase needs; undefined where this cannot be made yet. */
type Preparation = (service: TestService, reseller: Reseller) => Promise<Purchase | undefined>;

export const SMALL_VM = forms.createVm.smallest;

/** One entry for each operation of the document with `x-billable`. */
const preparations: Readonly<Record<string, Preparation>> = {
  createVm: async (_, reseller) => ({ path: '/vm/create', make: (options) => reseller.vm.create(SMALL_VM, options) }),
  registerDomain: async (_, reseller) => {
    const { handle } = await reseller.domain.handle.create(forms.createHandle.withPhone);
    const form = { ...forms.registerDomain.register, handle };
    return { path: '/domain/register', make: (options) => reseller.domain.register(form, options) };
  },
  undeleteDomain: async (_, reseller) => {
    for (const name of (await reseller.domain.list()).list) {
      const { domain } = await reseller.domain.info(name);
      if (domain.terminated) return { path: `/domain/${name}/undelete`, make: (options) => reseller.domain.undelete(name, options) };
    }
    return undefined;
  },
  undeleteDedicatedServer: async (_, reseller) => {
    const server = (await reseller.dedicated.list()).list.find(({ deployed }) => deployed);
    if (!server) return undefined;
    if (!server.accounting.terminated) await reseller.dedicated.delete(server.identifier);
    const { identifier } = server;
    return { path: `/dedicated/${identifier}/undelete`, make: (options) => reseller.dedicated.undelete(identifier, options) };
  },
};

export const billable: readonly string[] = readOperations(parseDocument(document))
  .filter((operation) => operation.billable)
  .map(({ id }) => id);

/** @throws Error when the operation is new and nobody has said here how it is called. */
export function preparationOf(operation: string): Preparation {
  const preparation = preparations[operation];
  if (!preparation)
    throw new Error(`${operation} costs money. Say in purchases.ts how it is called, so that its purchases are tested too.`);
  return preparation;
}

/** How often an operation had an effect, by what the service itself keeps: a repetition is answered with the first one's answer. */
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
