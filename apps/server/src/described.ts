import type { StoreCopy } from '@reseller/service/maintenance';

const MEBIBYTE = 1024 ** 2;

/** Describes the contents of a copied store. */
export function described({ accounts, bytes, schema }: StoreCopy): string {
  return `${accounts} account${accounts === 1 ? '' : 's'} (${(bytes / MEBIBYTE).toFixed(1)} MiB, schema ${schema})`;
}
