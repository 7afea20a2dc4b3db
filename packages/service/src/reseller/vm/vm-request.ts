import type { Spender } from '../../core/account/spending.ts';
import type { VmRequest } from '../../core/vm/change.ts';
import { vmIdOf } from '../../core/vm/own-vm.ts';
import type { Runtime } from '../../delivery/runtime.ts';

/** The request of an account to change the VM that a path names. */
export function requestOf({
  runtime,
  accountId,
  spender,
  path,
}: {
  readonly runtime: Runtime;
  readonly accountId: string;
  readonly spender: Spender | undefined;
  readonly path: { readonly vmid: string };
}): VmRequest {
  return { runtime, accountId, spender, vmId: vmIdOf(path.vmid) };
}
