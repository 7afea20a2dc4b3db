/** One simulation: a service, its infrastructure, the model, and the steps so far. */
import type { Engine, StorePlace } from '../engines.ts';
import type { HangingCall } from '../ports/port-calls.ts';
import { addServer, machine, seedCatalogue } from './catalogue.ts';
import { openClient } from './client.ts';
import type { SimulatedClient } from './client.ts';
import { newModel } from './model.ts';
import type { Model, ModelAccount } from './model.ts';
import { diceOf, seededRandom } from './seeded-random.ts';
import type { Dice } from './seeded-random.ts';
import { VirtualClock } from './virtual-clock.ts';
import { newWorld } from './world.ts';
import type { World } from './world.ts';

/** A request whose port call hangs, or whose undoing failed. */
export interface OpenRequest {
  /** The name of its delivery in the store. */
  readonly delivery: string;
  /** The domain that it cancels at the registrar. */
  readonly subject?: string;
  readonly key: string | undefined;
  readonly account: ModelAccount;
  /** Undefined if the caller has a response and a scheduled job still has to undo or finish the request. */
  readonly hanging: { readonly call: HangingCall; finish(outcome: 'continues' | 'fails'): Promise<void> } | undefined;
  /** Ends the reservation in the model. */
  release(): void;
}

/** A request that a later step can repeat with the same Idempotency-Key. */
export interface Repeatable {
  readonly account: ModelAccount;
  readonly key: string;
  /** The time of the request in milliseconds. */
  readonly at: number;
  /** The body of the successful response; undefined if there was none. */
  readonly response: string | undefined;
  /** Whether the request can be repeated with another form. */
  readonly isChangeable: boolean;
  /** Sends the request again with the same key. */
  resend(changed: boolean): Promise<{ status: number; errorType: string | null; text: string }>;
  /** Sends the request again with the same key, after a failure that left nothing behind. The model treats it as a new request. */
  retry(): Promise<void>;
}

/** Something that a step can do. */
export interface Action {
  /** How often a step does this, relative to the other actions. */
  readonly weight: number;
  run(sim: Simulation): Promise<void>;
}

/** A step for the report of a failure. */
export interface Step {
  readonly number: number;
  readonly at: string;
  text: string;
}

export interface Simulation {
  readonly seed: number;
  readonly engine: Engine;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly client: SimulatedClient;
  readonly model: Model;
  readonly openRequests: OpenRequest[];
  readonly repeatables: Repeatable[];
  readonly steps: Step[];
  /** Actions in a random order. Each runs once before any of them runs again. */
  readonly upcoming: Action[];
  /** Adds to the description of the current step. */
  describe(text: string): void;
}

/** Starts a simulation on an empty store. */
export async function newSimulation(seed: number, place: StorePlace): Promise<Simulation> {
  const clock = new VirtualClock();
  const world = newWorld(clock, seededRandom(seed, 'service'));
  const steps: Step[] = [];
  let model: Model | undefined;
  const client = await openClient(place, world, async (store) => {
    const { accounts, pools } = await seedCatalogue(store, world.ports);
    model = newModel(accounts, pools, clock.seconds());
  });
  if (!model) throw new Error('The store is empty.');
  const simulation: Simulation = {
    seed,
    engine: place.engine,
    dice: diceOf(seededRandom(seed, 'simulator')),
    clock,
    world,
    client,
    model,
    openRequests: [],
    repeatables: [],
    steps,
    upcoming: [],
    describe(text) {
      const step = steps.at(-1);
      if (step) step.text += step.text === '' ? text : `; ${text}`;
    },
  };
  for (let count = 0; count < 3; count++) await offerServer(simulation);
  return simulation;
}

/** Puts a new server on the market, in the service and in the model. */
export async function offerServer({ client, world, model: { servers } }: Simulation): Promise<void> {
  const number = servers.length;
  const { price, runtimeDays: days } = machine(number);
  const id = await addServer(client.store(), world.ports, number);
  const initial = { account: undefined, state: 'offered', terminated: false, due: null, ordered: null } as const;
  servers.push({ id, days, price: { n: price, d: 100_000_000n }, ...initial });
}
