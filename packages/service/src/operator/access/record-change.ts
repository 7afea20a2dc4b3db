import { MASK, secretNames } from '@reseller/contract';
import { v7 as uuidv7 } from 'uuid';

import { maskKeys } from '../../rules/credentials.ts';
import type { Db } from '../../store/store.ts';
import { operatorDocument } from '../document.ts';
import type { OperatorCall, OperatorId } from '../operation.ts';
import { appendToChain } from './audit-chain.ts';

/** The states of a resource before and after a change. Null where the resource does not exist. */
export interface Change {
  readonly before: unknown;
  readonly after: unknown;
}

/** The members of a call that are recorded. */
type RecordedCall = Pick<OperatorCall<OperatorId>, 'runtime' | 'sandbox' | 'caller' | 'operationId' | 'address' | 'requestId'> & {
  readonly path: object;
};

const SECRET_NAMES = secretNames(operatorDocument);

/** Adds the record of a change to the audit. Must run in the transaction of the change. */
export async function recordChange(
  db: Db,
  { runtime, sandbox, caller, operationId, address, requestId, path }: RecordedCall,
  { before, after }: Change,
): Promise<void> {
  // The clock of a sandbox can go back.
  const time = sandbox.clock.base.now();
  const content = {
    id: uuidv7({ msecs: time, random: runtime.ports.random.bytes(16) }),
    time,
    actor: caller.id,
    actor_name: caller.name,
    address,
    operation: operationId,
    target: changedResourceOf(path, after),
    state_before: maskKeys(JSON.stringify(withoutSecrets(before))),
    state_after: maskKeys(JSON.stringify(withoutSecrets(after))),
    request_id: requestId,
  };
  await appendToChain(db, content, runtime.ports.random);
}

/** The resource that the path names, or else the one in the response. */
function changedResourceOf(path: object, after: unknown): string | null {
  const { id, account, account_id } = Object(after);
  const target: unknown = Object.values(path)[0] ?? id ?? Object(account).id ?? account_id;
  return typeof target === 'string' ? target : null;
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, SECRET_NAMES.has(name) && item !== null ? MASK : withoutSecrets(item)]),
  );
}
