import type { Engine } from '../store.ts';
import { initial } from './0001-initial.ts';
import { keysReadingSecrets } from './0002-keys-reading-secrets.ts';
import { renewalHolds } from './0003-renewal-holds.ts';
import { keyLimits } from './0004-key-limits.ts';
import { auditChain } from './0005-audit-chain.ts';
import { openPositionsByStart } from './0006-open-positions-by-start.ts';
import { payments } from './0007-payments.ts';
import { vatByRate } from './0008-vat-by-rate.ts';
import { documentsByTime } from './0009-documents-by-time.ts';

/** All migrations of this version, by name, in the order in which they run. */
export function migrationsOf(engine: Engine) {
  return {
    '0001-initial': initial(engine),
    '0002-keys-reading-secrets': keysReadingSecrets(engine),
    '0003-renewal-holds': renewalHolds(engine),
    '0004-key-limits': keyLimits(engine),
    '0005-audit-chain': auditChain(engine),
    '0006-open-positions-by-start': openPositionsByStart,
    '0007-payments': payments(engine),
    '0008-vat-by-rate': vatByRate,
    '0009-documents-by-time': documentsByTime,
  };
}
