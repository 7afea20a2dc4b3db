import type { BrokenRule, Settings, VatRateInput } from '@reseller/operator-client';

import { lockAccount } from '../../core/account/lock.ts';
import { updateDebt } from '../../core/accounting/debt.ts';
import type { Mode } from '../../rules/credentials.ts';
import type { VatRate } from '../../rules/vat.ts';
import {
  readSettings,
  writeAuditRetention,
  writeDefaultQuotas,
  writeLogRetention,
  writeRateLimit,
  writeSecondOperator,
  writeVatRates,
  writeVmIdentifierQuarantine,
} from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import { toInstant } from '../instants.ts';
import type { ReadOperation, ServiceOperation, StoreOperation } from '../operation.ts';
import { assertNoBrokenRules } from '../problem.ts';

const SETTINGS_LOCK = 'settings';

/** GET /settings */
export const getSettings: ReadOperation<'getSettings'> = {
  kind: 'read',
  run: (db, { runtime: { mode } }) => toSettings(db, mode),
};

/** PUT /settings/rate-limit */
export const setDefaultRateLimit: ServiceOperation<'setDefaultRateLimit'> = {
  kind: 'service',
  async run({ body, sandbox, runtime: { store, mode } }, record) {
    const settings = await store.commit(async ({ db }) => {
      await store.sharing.lock(db, SETTINGS_LOCK);
      const before = await toSettings(db, mode);
      await writeRateLimit(db, body.rate_limit);
      const after = await toSettings(db, mode);
      await record(db, { before, after });
      return after;
    });
    await sandbox.propagate();
    return settings;
  },
};

/** The amount that a balance adds to the credit depends on the VAT. */
async function updateBalances(db: Db, now: number): Promise<void> {
  const accounts = await db.selectFrom('accounts').select('id').where('balance', '>', 0).orderBy('id').execute();
  for (const { id } of accounts) {
    await lockAccount(db, id);
    await updateDebt(db, id, now);
  }
}

/** PUT /settings/vat-rates */
export const setVatRates: StoreOperation<'setVatRates'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime: { mode } }) => toSettings(db, mode),
  async run({ db }, { body, now, runtime: { mode } }) {
    const rates = body.vat_rates.map(rateOf);
    assertNoBrokenRules(brokenRules(rates, now));
    await writeVatRates(
      db,
      rates.toSorted((one, other) => one.validFrom - other.validFrom),
    );
    await updateBalances(db, now);
    return toSettings(db, mode);
  },
};

/** PUT /settings/vm-identifier-quarantine */
export const setVmIdentifierQuarantine: StoreOperation<'setVmIdentifierQuarantine'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime: { mode } }) => toSettings(db, mode),
  async run({ db }, { body, runtime: { mode } }) {
    await writeVmIdentifierQuarantine(db, body.vm_identifier_quarantine_days);
    return toSettings(db, mode);
  },
};

/** PUT /settings/request-log-retention */
export const setRequestLogRetention: StoreOperation<'setRequestLogRetention'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime: { mode } }) => toSettings(db, mode),
  async run({ db }, { body, runtime: { mode } }) {
    const { months, bytes_per_account: bytesPerAccount } = body.request_log_retention;
    await writeLogRetention(db, { months, bytesPerAccount });
    return toSettings(db, mode);
  },
};

/** PUT /settings/audit-retention */
export const setAuditRetention: StoreOperation<'setAuditRetention'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime: { mode } }) => toSettings(db, mode),
  async run({ db }, { body, runtime: { mode } }) {
    await writeAuditRetention(db, body.audit_retention_months);
    return toSettings(db, mode);
  },
};

/** PUT /settings/default-quotas */
export const setDefaultQuotas: StoreOperation<'setDefaultQuotas'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime: { mode } }) => toSettings(db, mode),
  async run({ db }, { body, runtime: { mode } }) {
    const { vms, handles } = body.default_quotas;
    await writeDefaultQuotas(db, { vms, handles });
    return toSettings(db, mode);
  },
};

/** PUT /settings/second-operator */
export const setSecondOperator: StoreOperation<'setSecondOperator'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime: { mode } }) => toSettings(db, mode),
  async run({ db }, { body, runtime: { mode } }) {
    await writeSecondOperator(db, body.second_operator);
    return toSettings(db, mode);
  },
};

async function toSettings(db: Db, mode: Mode): Promise<Settings> {
  const { rateLimit, vatRates, vmIdentifierQuarantine, logRetention, auditRetention, defaultQuotas, secondOperator } = await readSettings(
    db,
    mode,
  );
  return {
    mode,
    rate_limit: rateLimit,
    vat_rates: vatRates.map(({ basisPoints, validFrom }) => ({ basis_points: basisPoints, valid_from: toInstant(validFrom) })),
    vm_identifier_quarantine_days: vmIdentifierQuarantine,
    request_log_retention: { months: logRetention.months, bytes_per_account: logRetention.bytesPerAccount },
    audit_retention_months: auditRetention,
    second_operator: secondOperator,
    default_quotas: { vms: defaultQuotas.vms, handles: defaultQuotas.handles },
  };
}

function rateOf({ basis_points, valid_from }: VatRateInput): VatRate {
  return { basisPoints: basis_points, validFrom: Date.parse(valid_from) };
}

function brokenRules(rates: readonly VatRate[], now: number): BrokenRule[] {
  const errors: BrokenRule[] = [];
  if (rates.every(({ validFrom }) => validFrom > now))
    errors.push({ pointer: '#/vat_rates', detail: 'must have a rate whose valid_from is not in the future' });
  for (const [index, { validFrom }] of rates.entries()) {
    if (rates.findIndex((other) => other.validFrom === validFrom) < index)
      errors.push({ pointer: `#/vat_rates/${index}/valid_from`, detail: 'must not be the same instant as that of another rate' });
  }
  return errors;
}
