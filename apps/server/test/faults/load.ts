/** Concurrent callers that buy, register domains, read and request codes, and record requests and responses. */
import { setTimeout as wait } from 'node:timers/promises';

import type { Account } from './provider.ts';
import { between, randomFrom } from './random.ts';
import type { Random } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { ServiceResponse, Request } from './request.ts';

/** A request with its responses. */
export interface Sent {
  readonly request: Request;
  /** Hostname of the VM or name of the domain that it buys; undefined if it buys nothing. */
  readonly buys?: { readonly kind: 'vm' | 'domain'; readonly name: string };
  /** Number of times that it was sent. */
  times: number;
  /** The responses, from all instances. */
  readonly responses: ServiceResponse[];
}

/** Parameters of a load. */
export interface LoadOptions {
  /** Base URLs of the instances. A caller without a response from one tries the next. */
  readonly instances: readonly string[];
  readonly account: Account;
  readonly seed: number;
  /** Number of callers. */
  readonly callers: number;
  /** Prefix of all bought names, unique for each load on a store. */
  readonly prefix: string;
}

export interface Load {
  readonly account: Account;
  readonly sent: readonly Sent[];
  /** Resolves after a number of responses, counted from now or, by default, from the beginning. */
  responsesReceived(count: number, since?: 'beginning' | 'now'): Promise<void>;
  /** From now on, each caller pauses between two requests. Some requests are always in progress, but the load leaves time for other work. */
  slowDown(): void;
  /** Ends the pauses. */
  speedUp(): void;
  /** The number of callers that ended because no instance responded. */
  gaveUp(): number;
  /** Stops new requests, and resolves when each caller has its last response or no instance left. */
  stop(): Promise<void>;
}

/** Milliseconds until a caller continues after a 503. Short, so that many requests arrive while the store is unavailable. */
const RETRY = 100;
/** Milliseconds between two requests of a caller after `slowDown`. */
const PAUSE = 250;

/** Starts callers, which continue until they are stopped or no instance responds. */
export function startLoad({ instances, account, seed, callers, prefix }: LoadOptions): Load {
  const sent: Sent[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const state = { stopping: false, isSlow: false, responses: 0, gaveUp: 0 };

  const caller = async (number: number): Promise<void> => {
    const random = randomFrom(seed + number);
    const asked = { instance: number, inVain: 0 };
    const goesOn = (): boolean => !state.stopping && asked.inVain < instances.length;
    for (let request = 1; goesOn(); request++) {
      const next = nextRequest(random, account, `${prefix}-${number}-${request}`);
      sent.push(next);
      // A request that must not be repeated is sent once. Others are sent until a response tells their outcome.
      const mayRepeat = !next.buys || next.request.key !== undefined;
      for (let isDone = false; !isDone; isDone ||= !mayRepeat || !goesOn()) isDone = await ask(next, asked);
      if (state.isSlow) await wait(PAUSE);
    }
    if (!state.stopping) state.gaveUp++;
  };

  /** Sends a request to one instance, and returns whether the response tells its outcome. */
  async function ask(next: Sent, asked: { instance: number; inVain: number }): Promise<boolean> {
    const baseUrl = instances[asked.instance % instances.length];
    if (baseUrl === undefined) throw new Error('A load needs an instance.');
    const response = await send(next, baseUrl, account);
    if (!response) {
      asked.inVain++;
      asked.instance++;
      return false;
    }
    asked.inVain = 0;
    state.responses++;
    for (const { count, resolve } of waiting) if (state.responses >= count) resolve();
    if (response.status !== 503) return true;
    await wait(RETRY);
    return false;
  }

  const ended = Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return {
    account,
    sent,
    responsesReceived(wanted, since = 'beginning') {
      const count = since === 'now' ? state.responses + wanted : wanted;
      return state.responses >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }));
    },
    slowDown: () => void (state.isSlow = true),
    speedUp: () => void (state.isSlow = false),
    gaveUp: () => state.gaveUp,
    async stop() {
      state.stopping = true;
      await ended;
    },
  };
}

/** Sends a request. @returns Undefined if there was no response. */
export async function send(sent: Sent, baseUrl: string, { apiKey }: Account): Promise<ServiceResponse | undefined> {
  sent.times++;
  try {
    const response = await fetchOf(baseUrl, apiKey, sent.request);
    sent.responses.push(response);
    return response;
  } catch {
    return undefined;
  }
}

function nextRequest(random: Random, { handle }: Account, name: string): Sent {
  const unsent = { times: 0, responses: [] };
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
