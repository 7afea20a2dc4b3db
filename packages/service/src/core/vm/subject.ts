import type { Subject } from '../../ports/fencing.ts';

/** What port calls about a VM are fenced by. */
export function vmSubject({ vmId }: { readonly vmId: number }): Subject {
  return `vm/${vmId}`;
}
