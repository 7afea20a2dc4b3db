import type { BrokenRule, Settings, VatRateInput } from '@reseller/operator-client';

import { updateDebt } from '../../core/accounting/debt.ts';
import { firstDayOfNewRate, isSupplied } from '../../core/catalogue/vat-rate.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { isTimeZone, startOfDay } from '../../rules/day.ts';
import { changesRatesBefore } from '../../rules/vat.ts';
import type { VatRate } from '../../rules/vat.ts';
import { lockAccount } from '../../store/account-lock.ts';
import { missingSettings } from '../../store/missing-settings.ts';
import {
  readDefaultQuotas,
  readSettings,
  readTimeZone,
  readVatRates,
  writeAddressQuarantine,
  writeAuditRetention,
  writeDefaultQuotas,
  writeLogRetention,
  writeRateLimit,
  writeSecondOperator,
  writeVatRates,
  writeVmIdentifierQuarantine,
} from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation, ServiceOperation, StoreOperation } from '../operation.ts';
import { assertNoBrokenRules } from '../problem.ts';
import { assertUnchanged } from '../version.ts';

const SETTINGS_LOCK = 'settings';

/** GET /settings */
export const getSettings: ReadOperation<'getSettings'> = {
  kind: 'read',
  run: (db, { runtime }) => toSettings(db, runtime),
};

/** PUT /settings/rate-limit */
export const setDefaultRateLimit: ServiceOperation<'setDefaultRateLimit'> = {
  kind: 'service',
  async run({ body, sandbox, expected, runtime }, record) {
    const settings = await runtime.store.commit(async ({ db }) => {
      await runtime.store.sharing.lock(db, SETTINGS_LOCK);
      const before = await toSettings(db, runtime);
      await assertUnchanged(db, expected);
      await writeRateLimit(db, body.rate_limit);
      const after = await toSettings(db, runtime);
      await record(db, { before, after });
      return after;
    });
    await sandbox.propagate();
    return settings;
  },
};

/** The amount that a balance adds to the credit depends on the VAT. */
async function updateBalances(db: Db): Promise<void> {
  const accounts = await db.selectFrom('accounts').select('id').where('balance', '>', 0).orderBy('id').execute();
  for (const { id } of accounts) {
    await lockAccount(db, id);
    await updateDebt(db, id);
  }
}

/** PUT /settings/vat-rates */
export const setVatRates: StoreOperation<'setVatRates'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime }) => toSettings(db, runtime),
  async run({ db }, { body, now, runtime }) {
    const timeZone = body.time_zone ?? (await readTimeZone(db));
    assertNoBrokenRules(brokenDates(body.vat_rates, timeZone));
    const rates = body.vat_rates
      .map(({ basis_points, valid_from }) => ({ basisPoints: basis_points, day: valid_from, validFrom: startOfDay(timeZone, valid_from) }))
      .toSorted((one, other) => one.validFrom - other.validFrom);
    assertNoBrokenRules([...brokenBeginning(rates, now), ...(await brokenPast(db, rates, { timeZone, now }))]);
    await writeVatRates(db, rates, timeZone);
    await updateBalances(db);
    return toSettings(db, runtime);
  },
};

/** PUT /settings/vm-identifier-quarantine */
export const setVmIdentifierQuarantine: StoreOperation<'setVmIdentifierQuarantine'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime }) => toSettings(db, runtime),
  async run({ db }, { body, runtime }) {
    await writeVmIdentifierQuarantine(db, body.vm_identifier_quarantine_days);
    if (body.address_quarantine_days !== undefined) await writeAddressQuarantine(db, body.address_quarantine_days);
    return toSettings(db, runtime);
  },
};

/** PUT /settings/request-log-retention */
export const setRequestLogRetention: StoreOperation<'setRequestLogRetention'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime }) => toSettings(db, runtime),
  async run({ db }, { body, runtime }) {
    const { months, bytes_per_account: bytesPerAccount } = body.request_log_retention;
    await writeLogRetention(db, { months, bytesPerAccount });
    return toSettings(db, runtime);
  },
};

/** PUT /settings/audit-retention */
export const setAuditRetention: StoreOperation<'setAuditRetention'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime }) => toSettings(db, runtime),
  async run({ db }, { body, runtime }) {
    await writeAuditRetention(db, body.audit_retention_months);
    return toSettings(db, runtime);
  },
};

/** PUT /settings/default-quotas */
export const setDefaultQuotas: StoreOperation<'setDefaultQuotas'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime }) => toSettings(db, runtime),
  async run({ db }, { body, runtime }) {
    const { vms, handles, records_per_domain } = body.default_quotas;
    const { recordsPerDomain } = await readDefaultQuotas(db, runtime.mode);
    await writeDefaultQuotas(db, {
      vms,
      handles,
      recordsPerDomain: records_per_domain === undefined ? recordsPerDomain : records_per_domain,
    });
    return toSettings(db, runtime);
  },
};

/** PUT /settings/second-operator */
export const setSecondOperator: StoreOperation<'setSecondOperator'> = {
  kind: 'store',
  lock: SETTINGS_LOCK,
  before: (db, { runtime }) => toSettings(db, runtime),
  async run({ db }, { body, runtime }) {
    await writeSecondOperator(db, body.second_operator);
    return toSettings(db, runtime);
  },
};

async function toSettings(db: Db, { mode, hasExtension }: Pick<Runtime, 'mode' | 'hasExtension'>): Promise<Settings> {
  const {
    rateLimit,
    vatRates,
    timeZone,
    vmIdentifierQuarantine,
    addressQuarantine,
    logRetention,
    auditRetention,
    defaultQuotas,
    secondOperator,
  } = await readSettings(db, mode);
  return {
    mode,
    extension: hasExtension,
    rate_limit: rateLimit,
    vat_rates: vatRates.map(({ basisPoints, day }) => ({ basis_points: basisPoints, valid_from: day })),
    time_zone: timeZone,
    vm_identifier_quarantine_days: vmIdentifierQuarantine,
    address_quarantine_days: addressQuarantine,
    request_log_retention: { months: logRetention.months, bytes_per_account: logRetention.bytesPerAccount },
    audit_retention_months: auditRetention,
    second_operator: secondOperator,
    default_quotas: {
      vms: defaultQuotas.vms,
      handles: defaultQuotas.handles,
      records_per_domain: defaultQuotas.recordsPerDomain,
    },
    missing: await missingSettings(db, mode),
  };
}

function brokenDates(rates: readonly VatRateInput[], timeZone: string): BrokenRule[] {
  const errors: BrokenRule[] = isTimeZone(timeZone)
    ? []
    : [{ pointer: '#/time_zone', detail: 'must be a time zone of the IANA database, such as Europe/Berlin' }];
  for (const [index, { valid_from: day }] of rates.entries()) {
    if (rates.findIndex((other) => other.valid_from === day) < index)
      errors.push({ pointer: `#/vat_rates/${index}/valid_from`, detail: 'must not be the same day as that of another rate' });
  }
  return errors;
}

function brokenBeginning(rates: readonly VatRate[], now: number): BrokenRule[] {
  return rates.every(({ validFrom }) => validFrom > now)
    ? [{ pointer: '#/vat_rates', detail: 'must have a rate whose valid_from is not in the future' }]
    : [];
}

/** What was supplied keeps its VAT. Before anything is sold, any rate can be the first one, from today on. */
async function brokenPast(
  db: Db,
  rates: readonly VatRate[],
  { timeZone, now }: { readonly timeZone: string; readonly now: number },
): Promise<BrokenRule[]> {
  const first = await firstDayOfNewRate(db, timeZone, now);
  const start = startOfDay(timeZone, first);
  const isNew = !(await isSupplied(db)) && rates.every(({ validFrom }) => validFrom >= start);
  if (isNew || !changesRatesBefore(start, await readVatRates(db), rates)) return [];
  const detail = `must not change the rates before ${first}, because they were invoiced or shown already; a new rate can begin on ${first} at the earliest`;
  return [{ pointer: '#/vat_rates', detail }];
}
