import { isObject } from '../../document/json.ts';
import { responseFor } from '../../document/operations.ts';
import { strongest, walkDescribed } from '../../document/place.ts';
import { joinPointer, pointerTokens } from '../../document/pointer.ts';
import type { Provenance } from '../../document/provenance.ts';
import { keysOf } from '../../document/schema.ts';
import { rootView } from '../../document/view.ts';
import { isPlainCall, isSuccess, jsonOf } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { returnsJson } from '../applies.ts';
import type { Check, RunContext } from '../check.ts';
import type { RunRemark } from '../finding.ts';
import { dropFirst } from '../tamper.ts';

export const partSeen: Check = {
  id: 'part-seen',
  claim: 'At least one successful response has each property that the document describes.',
  judges:
    'Judges all successful responses of a run together. Considers only objects that a response contains, not those that are null or in an empty list. A property that no response has is unverified, because the account may have no data for it.',
  client: 'The property may not exist. Write code that works without it.',
  applies: returnsJson,
  checkRun(context) {
    const seen = new Map<string, DescribedProperty>();
    for (const exchange of context.exchanges) if (isPlainCall(exchange) && isSuccess(exchange.status)) collect(context, exchange, seen);
    return [...seen.values()].flatMap((one) => (one.isSeen ? [] : [remark(one)]));
  },
  defect: {
    description: 'The service never sends an optional property.',
    tamper: (exchange) =>
      dropFirst(exchange, ({ name, parents, pointer }) => pointerTokens(pointer).length > 1 && isOptional(name, parents)),
  },
};

interface DescribedProperty {
  readonly exchange: Exchange;
  readonly at: string;
  readonly name: string;
  readonly pointer: string;
  readonly provenance: string;
  isSeen: boolean;
}

function collect({ document }: RunContext, exchange: Exchange, seen: Map<string, DescribedProperty>): void {
  const response = responseFor(exchange.operation, exchange.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (response === undefined || pointer === undefined || exchange.body.kind !== 'json') return;
  walkDescribed(document, { pointer, provenance: response.provenance }, exchange.body.value, (place) => {
    if (!isObject(place.value)) return true;
    for (const {
      pointer: schema,
      schema: { properties },
    } of place.nodes) {
      for (const name of isObject(properties) ? Object.keys(properties) : []) {
        const at = joinPointer(schema, 'properties', name);
        if (rootView(document, at).nodes.some((node) => node.schema['writeOnly'] === true)) continue;
        const known = seen.get(at);
        const isSeen = Object.hasOwn(place.value, name);
        if (known === undefined) {
          const provenance = strongest(rootView(document, at, provenanceAt(place.nodes, schema)).nodes) ?? 'shown';
          seen.set(at, { exchange, at, name, pointer: `${place.pointer}/${name}`, provenance, isSeen });
        } else known.isSeen ||= isSeen;
      }
    }
    return true;
  });
}

function remark({ exchange, at, name, pointer, provenance }: DescribedProperty): RunRemark {
  return {
    exchange,
    pointer,
    verdict: 'unverified',
    message: `the document describes the property ${name} (${provenance}), but no response had it`,
    expected: `at least one ${name}`,
    observed: 'none in any response of the run',
    at,
    rule: 'never seen',
  };
}

function provenanceAt(nodes: Parameters<typeof strongest>[0], schema: string): Provenance {
  return nodes.find((node) => node.pointer === schema)?.provenance ?? 'shown';
}

function isOptional(name: string, parents: Parameters<typeof strongest>[0]): boolean {
  const isNamed = parents.some(({ schema }) => keysOf(schema, 'properties').includes(name));
  return isNamed && !parents.some(({ schema }) => Array.isArray(schema['required']) && schema['required'].includes(name));
}
