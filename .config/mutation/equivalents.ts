/** Mutants that no test can notice, because they behave as the source does. */
export interface Equivalent {
  readonly file: string;
  /** The part of the source. */
  readonly original: string;
  /** The replacement. */
  readonly replacement: string;
  /** Why both behave the same. */
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'packages/service/src/rules/money.ts',
    original: 'amount < 0n',
    replacement: 'amount <= 0n',
    reason: 'the amount 0 is its own negation. The sign of its notation is tested',
  },
  {
    file: 'packages/service/src/rules/money.ts',
    original: 'numerator % denominator < 0n',
    replacement: 'numerator % denominator <= 0n',
    reason: 'a quotient without a remainder that is first lowered by 1 is raised again, because its rest is then above one half',
  },
  {
    file: 'packages/service/src/rules/money.ts',
    original: 'numerator % denominator',
    replacement: 'numerator * denominator',
    reason: 'both have the same sign unless the remainder is 0, which the entry above covers',
  },
  {
    file: 'packages/service/src/rules/sale.ts',
    original: 'one.monthlyPrice < other.monthlyPrice',
    replacement: 'one.monthlyPrice <= other.monthlyPrice',
    reason: 'the line before has found the prices to differ',
  },
  {
    file: 'packages/service/src/rules/dedicated.ts',
    original: "state.phase !== 'deployed'",
    replacement: 'false',
    reason: 'other states have no renewal date, so that none is reached',
  },
  {
    file: 'packages/service/src/rules/contact.ts',
    original: '/^[a-z]{2}$/i',
    replacement: '/^[a-z]{2}/i',
    reason: 'the list of countries has no longer code',
  },
  {
    file: 'packages/service/src/rules/contact.ts',
    original: '/^[a-z]{2}$/i',
    replacement: '/[a-z]{2}$/i',
    reason: 'the list of countries has no longer code',
  },
  {
    file: 'packages/service/src/rules/ssh-key.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    reason: 'only the second element is read',
  },
  {
    file: 'packages/service/src/rules/dns-record.ts',
    original: 'sub === undefined',
    replacement: 'false',
    reason: 'a subdomain that cannot be read is a broken rule',
  },
  {
    file: 'packages/service/src/rules/dns-record.ts',
    original: 'data === undefined',
    replacement: 'false',
    reason: 'data that cannot be read are a broken rule',
  },
  {
    file: 'packages/service/src/rules/dns-record.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    reason: 'the default of a missing part, which is not a valid number or name either',
  },
  {
    file: 'packages/service/src/rules/dns-record.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    reason: 'only later elements are read, and only after a match',
  },
  {
    file: 'packages/service/src/core/vm/change.ts',
    original: 'vm.sale_id !== null',
    replacement: 'true',
    reason: 'the price of a VM without a sale never has the basis SALE',
  },
  {
    file: 'packages/service/src/core/domain/expiry-job.ts',
    original: "'refused' in reached",
    replacement: 'false',
    reason: 'the query has found a registered domain at its expiry, which the rule never refuses. The throw narrows the type',
  },
  {
    file: 'packages/client/src/paged-call.ts',
    original: 'lastReturned === undefined',
    replacement: 'false',
    reason: 'the identity of an item is a text, so that none is undefined',
  },
  {
    file: 'packages/contract/src/run/clean-up.ts',
    original: 'operation === undefined',
    replacement: 'false',
    reason: 'every entry of a run is of an operation of its document',
  },
];
