import type { Dns } from './dns.ts';
import type { Fence } from './fencing.ts';
import type { Fleet } from './fleet.ts';
import type { Hypervisor } from './hypervisor.ts';
import type { Registrar } from './registrar.ts';

/** The values that the service passes to the module that RESELLER_ADAPTERS names. */
export interface AdapterContext {
  /** A sandbox sells for play money. */
  readonly mode: 'sandbox' | 'live';
  /**
   * Identifies the service among others that use the same infrastructure. It never changes. An adapter marks what it creates with this
   * identifier, and changes nothing without it.
   */
  readonly serviceId: string;
  /** The fence in the store of the service, which all its instances share. */
  readonly fence: Fence;
  /** A folder for the files of adapters. It survives a restart of the process. */
  readonly directory: string;
}

/** The adapters of a module. One that it omits is simulated in a sandbox, and is missing in a live service. */
export interface Adapters {
  readonly hypervisor?: Hypervisor | undefined;
  readonly fleet?: Fleet | undefined;
  readonly registrar?: Registrar | undefined;
  readonly dns?: Dns | undefined;
}

/** The function that the module exports as `createAdapters`. */
export type CreateAdapters = (context: AdapterContext) => Adapters | Promise<Adapters>;
