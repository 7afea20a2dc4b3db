import type { StoreCopy } from '@reseller/service/maintenance';

import { counted } from './command-line.ts';

const MEBIBYTE = 1024 ** 2;

export function describeCopy({ accounts, bytes, schema }: StoreCopy): string {
  return `${counted(accounts, 'account')} (${(bytes / MEBIBYTE).toFixed(1)} MiB, schema ${schema})`;
}
