/** Steps that change domains. */
import { ZERO, decimal, minus } from '../simulator/fraction.ts';
import { DAY, iso, monthAfter, yearAfter } from './calendar.ts';
import { checkAccount } from './check.ts';
import { inForce, renewalOf } from './ledger.ts';
import type { Domain } from './ledger.ts';
import { buy } from './purchase.ts';
import type { Turn } from './purchase.ts';
import { TLDS, advanceTo, done } from './world.ts';

export async function registerDomain(turn: Turn): Promise<void> {
  const { ledger, dice, step } = turn;
  const account = dice.pick(ledger.accounts);
  const tld = dice.pick(TLDS);
  const comesIn = dice.chance(0.3);
  const name = `${comesIn ? 'taken-' : ''}history-${step}.${tld}`;
  const prices = inForce(ledger.tlds.get(tld) ?? [], ledger.now);
  const price = decimal(comesIn ? prices.transfer : prices.create);
  await buy(turn, account, {
    id: 'registerDomain',
    quote: 'quoteRegisterDomain',
    sent: { form: { domain: name, handle: account.handle, ...(comesIn && { authcode: 'example-authcode-1' }) } },
    price,
    added: price,
    enter() {
      const expires = yearAfter(ledger.now);
      account.domains.push({ name, tld, expires, isCancelled: false, renewedByHand: null });
      const type = comesIn ? 'TRANSFER' : 'CREATE';
      account.charges.push({ kind: 'domains', subject: name, type, start: ledger.now, stop: expires, amount: price, at: ledger.now });
    },
  });
}

const someDomain = ({ ledger, dice }: Turn, isCancelled: boolean) =>
  dice.pickAny(
    ledger.accounts.flatMap((account) =>
      account.domains.filter((domain) => domain.isCancelled === isCancelled).map((domain) => ({ account, domain })),
    ),
  );

export async function renewDomain(turn: Turn): Promise<void> {
  const { ledger, dice } = turn;
  const one = someDomain(turn, false);
  if (!one) return;
  const { account, domain } = one;
  // Registries allow ten years.
  let most = ledger.now;
  for (let years = 0; years < 9; years++) most = yearAfter(most);
  const isAgain = domain.renewedByHand !== null && ledger.now < domain.renewedByHand + 60;
  if (domain.expires >= most || isAgain) return;
  const { renew } = inForce(ledger.tlds.get(domain.tld) ?? [], ledger.now);
  // A renewal by hand takes the place of one that is due in this period.
  const held = domain.expires < monthAfter(ledger.now) ? renewalOf(ledger, domain) : ZERO;
  const expire = iso(domain.expires).slice(0, 19).replace('T', ' ');
  await buy(turn, account, {
    id: 'renewDomain',
    quote: 'quoteRenewDomain',
    sent: { path: { domain: domain.name }, form: dice.chance(0.5) ? { expire } : {} },
    price: decimal(renew),
    added: minus(decimal(renew), held),
    enter() {
      const start = domain.expires;
      domain.expires = yearAfter(start);
      domain.renewedByHand = ledger.now;
      const charge = { kind: 'domains', subject: domain.name, type: 'RENEW', start, stop: domain.expires } as const;
      account.charges.push({ ...charge, amount: decimal(renew), at: ledger.now });
    },
  });
}

export async function cancelDomain({ door, ledger, facts, dice, describe, ...turn }: Turn): Promise<void> {
  const one = someDomain({ door, ledger, facts, dice, describe, ...turn }, false);
  if (!one) return;
  const { account, domain } = one;
  describe(`${domain.name} of ${account.name} is cancelled`);
  if (dice.chance(0.5)) await done(door.operate('POST', `/domains/${domain.name}/terminate`));
  else {
    const { status } = await door.call(account.apiKey, 'deleteDomain', { path: { domain: domain.name } });
    facts.same('status of a cancellation', status, account.isSuspended ? 403 : 200);
    if (status !== 200) return;
  }
  domain.isCancelled = true;
}

export async function keepDomain(turn: Turn): Promise<void> {
  const { ledger } = turn;
  const one = someDomain(turn, true);
  if (!one) return;
  const { account, domain } = one;
  const isDue = domain.expires < monthAfter(ledger.now);
  await buy(turn, account, {
    id: 'undeleteDomain',
    quote: 'quoteUndeleteDomain',
    sent: { path: { domain: domain.name } },
    isGuarded: false,
    price: renewalOf(ledger, domain),
    added: isDue ? renewalOf(ledger, domain) : ZERO,
    enter() {
      domain.isCancelled = false;
    },
  });
}

/** A domain goes to another account of the service, which costs nothing. */
export async function moveDomain(turn: Turn): Promise<void> {
  const { door, ledger, dice } = turn;
  const domains = () =>
    ledger.accounts.filter(({ isSuspended }) => !isSuspended).flatMap((account) => account.domains.map((domain) => ({ account, domain })));
  const inItsMonth = () => domains().filter(({ domain }) => domain.expires < monthAfter(ledger.now));
  // The new account needs credit for a renewal that is due, and the other one no longer does.
  const soon = dice.pickAny(domains())?.domain.expires ?? 0;
  const before = soon - dice.integer(1, 5 * DAY);
  if (dice.chance(0.5) && inItsMonth().length === 0 && before > ledger.now) {
    turn.describe(`the clock is advanced to ${iso(before)}, before the renewal of a domain that moves`);
    await advanceTo(door, ledger, before);
    // The ledger reads the numbers of the invoices that were issued meanwhile.
    for (const account of ledger.accounts) await checkAccount(door, ledger, account, turn.facts);
  }
  const due = inItsMonth();
  const one = dice.pickAny(due.length > 0 ? due : domains());
  if (!one) return;
  const { account, domain } = one;
  const path = { domain: domain.name };
  const taker = dice.pick(ledger.accounts.filter((other) => other !== account));
  await done(door.call(account.apiKey, 'setDomainTransferLock', { path, form: { transfer_lock: 'false' } }));
  const { authcode } = (await done(door.call(account.apiKey, 'requestDomainAuthcode', { path }))).data;
  const isDue = domain.expires < monthAfter(ledger.now);
  const { data } = await done(door.call(account.apiKey, 'getDomain', { path }));
  if (data.domain.status !== 'OK') return;
  await buy(turn, taker, {
    id: 'registerDomain',
    quote: 'quoteRegisterDomain',
    sent: { form: { domain: domain.name, handle: taker.handle, authcode } },
    price: ZERO,
    added: isDue ? renewalOf(ledger, { ...domain, isCancelled: false }) : ZERO,
    enter() {
      account.domains.splice(account.domains.indexOf(domain), 1);
      const moved: Domain = { ...domain, isCancelled: false };
      taker.domains.push(moved);
    },
  });
}
