import { isObject } from '../../document/json.ts';
import { responseFor } from '../../document/operations.ts';
import { strongest, walkDescribed } from '../../document/place.ts';
import { joinPointer } from '../../document/pointer.ts';
import type { Provenance } from '../../document/provenance.ts';
import { rootView } from '../../document/view.ts';
import { isPlainCall, isSuccess, jsonOf } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { returnsJson } from '../applies.ts';
import type { Check, RunContext } from '../check.ts';
import type { RunRemark } from '../finding.ts';

export const partSeen: Check = {
  id: 'part-seen',
  claim: 'At least one response has each property and each header that the document describes.',
  example: 'The document describes `order.discount`, and no response of the run has it.',
  judges:
    'Judges all successful responses of a run together. Considers only objects that a response contains, not those that are null or in an empty list. A property that no response has is unverified, because the account may have no data for it; a header that no response with its status has, because it may need a situation that did not occur in the run. The check header-present reports missing required headers.',
  client: 'The property or header may not exist. Write code that works without it.',
  applies: (operation) =>
    returnsJson(operation) || Object.values(operation.responses).some(({ headers }) => Object.keys(headers).length > 0),
  untestable: 'it is about all responses of a run together',
  checkRun(context) {
    const seen = new Map<string, DescribedPart>();
    for (const exchange of context.exchanges.filter(isPlainCall)) {
      collectHeaders(exchange, seen);
      if (isSuccess(exchange.status)) collect(context, exchange, seen);
    }
    return [...seen.values()].flatMap((one) => (one.isSeen ? [] : [remark(one)]));
  },
};

interface DescribedPart {
  readonly exchange: Exchange;
  readonly at: string;
  readonly name: string;
  /** Such as "property id (shown)". */
  readonly label: string;
  readonly pointer: string;
  isSeen: boolean;
}

function collect({ document }: RunContext, exchange: Exchange, seen: Map<string, DescribedPart>): void {
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
          seen.set(at, { exchange, at, name, label: `property ${name} (${provenance})`, pointer: `${place.pointer}/${name}`, isSeen });
        } else known.isSeen ||= isSeen;
      }
    }
    return true;
  });
}

/** Adds the optional headers that the document describes for the status of a response. */
function collectHeaders(exchange: Exchange, seen: Map<string, DescribedPart>): void {
  const response = responseFor(exchange.operation, exchange.status);
  for (const [key, { name, required, pointer }] of Object.entries(response?.headers ?? {})) {
    if (required) continue;
    const at = pointer ?? `${response?.holder ?? ''}/headers/${name}`;
    const isSeen = exchange.headers[key] !== undefined || seen.get(at)?.isSeen === true;
    seen.set(at, { exchange, at, name, label: `header ${name}`, pointer: '', isSeen });
  }
}

function remark({ exchange, at, name, label, pointer }: DescribedPart): RunRemark {
  return {
    exchange,
    pointer,
    verdict: 'unverified',
    message: `the document describes the ${label}, but no response had it`,
    expected: `at least one ${name}`,
    observed: 'none in any response of the run',
    at,
    rule: 'never seen',
  };
}

function provenanceAt(nodes: Parameters<typeof strongest>[0], schema: string): Provenance {
  return nodes.find((node) => node.pointer === schema)?.provenance ?? 'shown';
}
