/** Callers who buy, register, read and ask for codes, all at once, and write down what they sent and what came back. */
import { setTimeout as pause } from 'node:timers/promises';

import type { Account } from './provider.ts';
import { between, randomFrom } from './random.ts';
import type { Random } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { Answer, Request } from './request.ts';

/** A request with all that became of it. */
export interface Sent {
  readonly request: Request;
  /** Hostname of the VM or name of the domain that it buys; undefined where it buys nothing. */
  readonly buys?: { readonly kind: 'vm' | 'domain'; readonly name: string };
  /** How often it was sent. */
  times: number;
  /** What was answered, by whichever node. */
  readonly answers: Answer[];
}

/** Who sends what to whom. */
export interface LoadOptions {
  /** Base URLs of the nodes; callers who get no answer from one go on with the next. */
  readonly nodes: readonly string[];
  readonly account: Account;
  readonly seed: number;
  /** How many callers there are. */
  readonly callers: number;
  /** Begins the names of what is bought; no two loads on a store have the same. */
  readonly prefix: string;
}

export interface Load {
  readonly account: Account;
  readonly sent: readonly Sent[];
  /** Resolves when so many answers have come, counted from now on or, where nothing else is said, from the beginning. */
  answered(count: number, since?: 'beginning' | 'now'): Promise<void>;
  /** Has callers send nothing new, and resolves when each has its last answer or no node to ask. */
  stop(): Promise<void>;
}

/** Milliseconds until a caller who was answered 503 sends something again: impatient, so that many do while the store is away. */
const RETRY = 50;

/** Starts callers, who go on until they are stopped or no node answers any more. */
export function startLoad({ nodes, account, seed, callers, prefix }: LoadOptions): Load {
  const sent: Sent[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const state = { stopping: false, answers: 0 };

  const caller = async (number: number): Promise<void> => {
    const random = randomFrom(seed + number);
    const asked = { node: number, inVain: 0 };
    const goesOn = (): boolean => !state.stopping && asked.inVain < nodes.length;
    for (let request = 1; goesOn(); request++) {
      const next = nextRequest(random, account, `${prefix}-${number}-${request}`);
      sent.push(next);
      // What must not be done twice is sent once; everything else until there is an answer that says what became of it.
      const mayRepeat = !next.buys || next.request.key !== undefined;
      for (let isAnswered = false; !isAnswered; isAnswered ||= !mayRepeat || !goesOn()) isAnswered = await ask(next, asked);
    }
  };

  /** Sends a request to one node; whether the answer says what became of it. */
  async function ask(next: Sent, asked: { node: number; inVain: number }): Promise<boolean> {
    const baseUrl = nodes[asked.node % nodes.length];
    if (baseUrl === undefined) throw new Error('A load needs a node.');
    const answer = await send(next, baseUrl, account);
    if (!answer) {
      asked.inVain++;
      asked.node++;
      return false;
    }
    asked.inVain = 0;
    state.answers++;
    for (const { count, resolve } of waiting) if (state.answers >= count) resolve();
    if (answer.status !== 503) return true;
    await pause(RETRY);
    return false;
  }

  const ended = Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return {
    account,
    sent,
    answered(wanted, since = 'beginning') {
      const count = since === 'now' ? state.answers + wanted : wanted;
      return state.answers >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }));
    },
    async stop() {
      state.stopping = true;
      await ended;
    },
  };
}

/** Sends a request, once more perhaps; undefined where no answer came. */
export async function send(sent: Sent, baseUrl: string, { apiKey }: Account): Promise<Answer | undefined> {
  sent.times++;
  try {
    const answer = await fetchOf(baseUrl, apiKey, sent.request);
    sent.answers.push(answer);
    return answer;
  } catch {
    return undefined;
  }
}

function nextRequest(random: Random, { handle }: Account, name: string): Sent {
  const unsent = { times: 0, answers: [] };
  const choice = between(random, 0, 100);
  const key = { key: `key-${name}` };
  const hostsystem = random() < 0.5 ? 'de_xeon' : 'nl_ryzen';
  if (choice < 30) return { ...unsent, request: vmPurchase(name, { ...key, hostsystem }), buys: { kind: 'vm', name } };
  if (choice < 45) return { ...unsent, request: vmPurchase(name, { hostsystem }), buys: { kind: 'vm', name } };
  if (choice < 65) {
    const domain = `${name}.com`;
    const request: Request = { method: 'POST', path: '/domain/register', form: { domain, handle }, ...(choice < 57 ? key : {}) };
    return { ...unsent, request, buys: { kind: 'domain', name: domain } };
  }
  if (choice < 75) return { ...unsent, request: { method: 'POST', path: '/account/otp' } };
  if (choice < 80) return { ...unsent, request: { method: 'POST', path: `/domain/${name}.org/authcode` } };
  const paths = ['/vm/list/hosts', '/domain/list', '/domain/pricings', '/accounting/sales', '/dedicated/list'];
  return { ...unsent, request: { method: 'GET', path: paths[between(random, 0, paths.length)] ?? '/domain/list' } };
}
