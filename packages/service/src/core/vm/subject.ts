import type { Subject } from '../../ports/fencing.ts';

/** Port calls about a VM are fenced by its identifier. */
export function vmSubject({ vmId }: { readonly vmId: number }): Subject {
  return `vm/${vmId}`;
}
