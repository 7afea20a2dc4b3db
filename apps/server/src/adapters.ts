/** Loads the adapters that the configuration names. */
import { pathToFileURL } from 'node:url';

import type { AdapterContext, Adapters, CreateAdapters } from '@reseller/adapters';
import { powerDns } from '@reseller/adapters/powerdns';
import { errorText } from '@reseller/contract/is-error';
import { simulatedPorts } from '@reseller/service';
import type { Ports, SimulatedPort } from '@reseller/service';

import { AdapterError } from './adapter-error.ts';
import { PORTS, withoutAdapter } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { builtInQemu } from './qemu.ts';

/** The ports of the service, with the names of those that are simulated. */
export interface ConfiguredPorts {
  readonly ports: Ports;
  readonly simulated: readonly SimulatedPort[];
  /** The line of the banner about VMs; undefined for a simulation. */
  readonly vms: string | undefined;
}

/**
 * Creates the ports of the service.
 *
 * @throws AdapterError if the module cannot be used, or if a live service has neither an adapter nor a named simulation for a port.
 */
export async function configuredPorts(configuration: Configuration, contextOf: () => Promise<AdapterContext>): Promise<ConfiguredPorts> {
  const { adapters: path, mode, named, simulatesRest, powerDns: reached } = configuration;
  let created: Promise<AdapterContext> | undefined;
  function context(): Promise<AdapterContext> {
    created ??= contextOf();
    return created;
  }
  const loaded = path === undefined ? {} : await adaptersIn(path, await context());
  const twice = PORTS.find((port) => named[port] !== undefined && loaded[port] !== undefined);
  if (twice !== undefined)
    throw new AdapterError(`RESELLER_${twice.toUpperCase()} is '${named[twice]}', but ${path} has a ${twice}. Set only one of them.`);
  const qemu = named.hypervisor === 'qemu' ? await builtInQemu(await context(), configuration) : undefined;
  const zones = reached && powerDns({ ...reached, ...(await context()) });
  const given = { ...loaded, ...(qemu && { hypervisor: qemu.hypervisor }), ...(zones && { dns: zones }) };
  const simulated = PORTS.filter((port) => given[port] === undefined);
  const [line] = mode === 'live' && !simulatesRest ? withoutAdapter(simulated.filter((port) => named[port] === undefined)) : [];
  if (line !== undefined) throw new AdapterError(line);
  const { hypervisor, fleet, registrar, dns } = given;
  return {
    simulated,
    vms: qemu?.description,
    ports: simulatedPorts({
      ...(hypervisor && { hypervisor }),
      ...(fleet && { fleet }),
      ...(registrar && { registrar }),
      ...(dns && { dns }),
    }),
  };
}

async function adaptersIn(path: string, context: AdapterContext): Promise<Adapters> {
  try {
    const module: { readonly createAdapters?: CreateAdapters } = await import(pathToFileURL(path).href);
    if (typeof module.createAdapters !== 'function') throw new Error('It exports no function createAdapters.');
    return await module.createAdapters(context);
  } catch (error) {
    throw new AdapterError(
      `RESELLER_ADAPTERS is '${path}', which cannot be used. ${errorText(error)} Set it to a JavaScript module that exports createAdapters.`,
      { cause: error },
    );
  }
}
