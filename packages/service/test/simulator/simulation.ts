/** One simulation: a service, the world around it, the model, and the steps so far. */
import type { StorePlace } from '../engines.ts';
import type { HangingCall } from '../ports/port-calls.ts';
import { offerMachine, machine, seedCatalogue } from './catalogue.ts';
import { openClient } from './client.ts';
import type { SimulatedClient } from './client.ts';
import { newModel } from './model.ts';
import type { Model, ModelAccount } from './model.ts';
import { diceOf, seededRandom } from './seeded-random.ts';
import type { Dice } from './seeded-random.ts';
import { VirtualClock } from './virtual-clock.ts';
import { newWorld } from './world.ts';
import type { World } from './world.ts';

/** A delivered request that has no good answer yet. */
export interface UnderWay {
  readonly what: string;
  /** The domain whose cancellation the registrar does not know of yet. */
  readonly subject?: string;
  readonly key: string | undefined;
  readonly account: ModelAccount;
  /** Undefined where it was answered, and only its undoing is left for the next start. */
  readonly hanging: { readonly call: HangingCall; finish(outcome: 'goes on' | 'fails'): Promise<void> } | undefined;
  /** Gives back in the model what was reserved. */
  release(): void;
}

/** A request that may be sent again with its key. */
export interface Repeatable {
  readonly account: ModelAccount;
  readonly key: string;
  /** Milliseconds. */
  readonly at: number;
  /** The body of its good answer; undefined where it had none. */
  readonly answer: string | undefined;
  /** Whether there is another form to send with the same key. */
  readonly isChangeable: boolean;
  /** Sends the same request with the same key and returns the answer's status, type and body. */
  resend(changed: boolean): Promise<{ status: number; errorType: string | null; text: string }>;
  /** Does the same with the same key, as something new. */
  again(): Promise<void>;
}

/** A step that was taken. */
export interface Step {
  readonly number: number;
  readonly at: string;
  text: string;
}

export interface Simulation {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly client: SimulatedClient;
  readonly model: Model;
  readonly underWay: UnderWay[];
  readonly repeatables: Repeatable[];
  readonly steps: Step[];
  /** Adds to what the present step says of itself. */
  say(text: string): void;
  /** A new machine on the market, in the service and in the model. */
  offer(): Promise<void>;
}

/** A new simulation over an empty place. */
export async function newSimulation(seed: number, place: StorePlace): Promise<Simulation> {
  const clock = new VirtualClock();
  const world = newWorld(clock, seededRandom(seed, 'service'));
  const steps: Step[] = [];
  let model: Model | undefined;
  const client = await openClient(place, world, async (store) => {
    const { accounts, pools } = await seedCatalogue(store, world.ports);
    model = newModel(accounts, pools, clock.seconds());
  });
  if (!model) throw new Error('The store was not filled.');
  const { servers } = model;
  const simulation: Simulation = {
    seed,
    dice: diceOf(seededRandom(seed, 'simulator')),
    clock,
    world,
    client,
    model,
    underWay: [],
    repeatables: [],
    steps,
    say(text) {
      const step = steps.at(-1);
      if (step) step.text += step.text === '' ? text : `; ${text}`;
    },
    async offer() {
      const number = servers.length;
      const { price, runtimeDays: days } = machine(number);
      const id = await offerMachine(client.store(), world.ports, number);
      const nobody = { account: undefined, state: 'offered', terminated: false, due: null, ordered: null } as const;
      servers.push({ id, days, price: { n: price, d: 100_000_000n }, ...nobody });
    },
  };
  for (let count = 0; count < 3; count++) await simulation.offer();
  return simulation;
}
