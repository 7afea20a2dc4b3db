/**
 * The system in a VM is at fault, not the hypervisor: its agent is missing, does not answer or refuses. The service then responds with 409 and
 * tells the owner of the VM. The service recognises it by its name, because an adapter may have another copy of the package.
 */
export class GuestError extends Error {
  override readonly name = 'GuestError';
}

export function isGuestError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'GuestError';
}
