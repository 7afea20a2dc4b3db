/** A service whose provider changes VMs and domains directly, so that tests see the errors of the core. The operator API does the same. */
import { domainCommands } from '../src/core/domain/terminate.ts';
import type { DomainCommands } from '../src/core/domain/terminate.ts';
import { vmCommands } from '../src/core/vm/commands.ts';
import type { VmCommands } from '../src/core/vm/commands.ts';
import type { Service, ServiceOptions } from '../src/index.ts';
import { createServiceOnRuntime } from '../src/service.ts';

export interface ProviderService extends Service {
  readonly vms: VmCommands;
  readonly domains: DomainCommands;
}

export async function createProviderService(options: ServiceOptions): Promise<ProviderService> {
  const { service, runtime } = await createServiceOnRuntime(options);
  await service.settled();
  return { ...service, vms: vmCommands(runtime), domains: domainCommands(runtime) };
}
