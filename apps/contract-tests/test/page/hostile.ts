import type { SettledReport } from '@reseller/contract/engine';

import type { Tamper } from '../selftest/fake-service.ts';

/** Calls `hacked` if a browser interprets it as markup. */
export const MARKUP = `</style></title></pre></table></details><script>hacked()</script><img src=x onerror="hacked()"><b onmouseover='hacked()'>&lt;`;
/** Wider than every tested screen. */
const LONG_WORD = 'W'.repeat(150);
/** Characters that change the direction of text, control terminals, break lines or are invisible. */
const STEERING = '\u202Egpj.exe\u0000\u0007\u001B[31m\r\u0085\u2028\u200B\uFFFE\uD800\u2067';
/** The same characters as the page must show them. */
export const STEERING_SHOWN = String.raw`\u202egpj.exe\u0000\u0007\u001b[31m\u000d\u0085\u2028\u200b\ufffe\ud800\u2067`;
const RIGHT_TO_LEFT = 'שלום';

/** Begins with a digit and ends with right-to-left text, so that it would affect the order of adjacent texts. */
export function hostile(text: string): string {
  return `7  ${MARKUP} ${LONG_WORD} ${STEERING} ${text} ${RIGHT_TO_LEFT}`;
}

/** A service with hostile names, values and headers. */
export const hostileService: Tamper = ({ operation, outcome, response }) => {
  if (outcome !== 'success') return undefined;
  const body = Object(response.body);
  switch (operation?.id) {
    case 'getCurrentInvoice':
      return { ...response, body: { ...body, [hostile('name')]: 1, data: { ...body.data, creditLimit: `7 ${MARKUP}`.slice(0, 60) } } };
    case 'listDedicatedServers':
      return { ...response, body: { ...body, requestID: hostile('id') } };
    case 'listSales':
      return { ...response, headers: { 'content-type': `text/${MARKUP}` } };
    case 'listDomains':
      return { ...response, body: hostile('body') };
    default:
      return undefined;
  }
};

/** Keys of a report whose values come from the program itself. */
const OWN_WORDS: ReadonlySet<string> = new Set(['operations', 'verdict', 'outcome', 'about', 'mode']);

/** A report with every kind of part, in which all texts are hostile. */
export function hostileReport(report: SettledReport): SettledReport {
  const [accepted, expired, client, ...others] = report.findings;
  if (accepted === undefined || expired === undefined || client === undefined) throw new Error('The report has too few findings.');
  const acceptance = {
    finding: accepted.id,
    check: accepted.check,
    operations: 'all' as const,
    reason: 'known',
    owner: 'accounting',
    expires: '2030-01-01',
  };
  const full: SettledReport = {
    ...report,
    findings: [{ ...accepted, accepted: acceptance }, { ...expired, expired: acceptance }, { ...client, about: 'client' }, ...others],
    fixed: [acceptance],
    left: ['a handle'],
    spent: { amount: '4.90', unknown: 2 },
  };
  return JSON.parse(JSON.stringify(full), (key, value: unknown) =>
    typeof value === 'string' && !OWN_WORDS.has(key) ? hostile(value) : value,
  );
}
