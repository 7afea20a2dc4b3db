import { isObject, member } from '../../document/json.ts';
import type { Operation } from '../../document/operation.ts';
import { fillPath, hasPathParameters } from '../../document/path-template.ts';
import { joinPointer } from '../../document/pointer.ts';
import { rootView } from '../../document/view.ts';
import { discoverCreated, identifiersFor } from '../../exchange/discover.ts';
import { isPlainCall, isSuccess, jsonValue } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { isWalked, pagingOf } from '../../exchange/paging.ts';
import { readBody } from '../../form/body.ts';
import { takesBody } from '../applies.ts';
import type { Check, RunContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import type { RunRemark } from '../finding.ts';

export const stateKept: Check = {
  id: 'state-kept',
  claim: 'What a request created or changed is in later reads, and accepted work can be followed.',
  example: '`PUT /orders/7` sends `{"note": "a"}` and returns 200, and the next `GET /orders/7` has the note `b`.',
  judges:
    'Compares the texts, numbers and Booleans of a JSON body with the properties of the same name in the next read of the resource; ignores upper case, surrounding spaces and the Unicode form. Looks for a created resource in the list of its collection, if the list has no required parameters and was read to its end. Reads the resource to which the `Location` of a 202 refers.',
  client: 'Your code stores something, gets a success, and finds something else or nothing later.',
  applies: (operation) => (operation.body?.format === 'json' && takesBody(operation)) || operation.responses['202'] !== undefined,
  checkRun: (context) => [...notKept(context), ...notListed(context), ...notFound(context)],
};

function isSuccessfulChange({ operation, status }: Exchange): boolean {
  return !operation.readOnly && operation.method !== 'DELETE' && isSuccess(status);
}

/** The first read of a resource after a change, unless another change or removal of it came first. */
function readAfter({ exchanges }: RunContext, from: number, pathname: string): Exchange | undefined {
  for (const exchange of exchanges.slice(from + 1)) {
    const { sent, operation, status } = exchange;
    if (new URL(sent.url).pathname !== pathname || sent.credential !== 'account') continue;
    if (!operation.readOnly) {
      if (isSuccess(status)) return undefined;
      continue;
    }
    return sent.method === 'GET' && isSuccess(status) ? exchange : undefined;
  }
  return undefined;
}

/** The path of the resource that a change is about, below the same base address. */
function resourceOf({ document, validator, operations }: RunContext, exchange: Exchange): string | undefined {
  const { operation, sent } = exchange;
  const { pathname } = new URL(sent.url);
  if (operation.method !== 'POST') return pathname;
  for (const reader of operations) {
    if (reader.method !== 'GET' || !reader.path.startsWith(`${operation.path}/{`) || !reader.path.endsWith('}')) continue;
    const path = discoverCreated({ document, validator, operation: reader, operations, exchange });
    const filled = path === undefined ? '' : fillPath(reader.path, path);
    const above = fillPath(operation.path, path ?? {});
    if (path !== undefined && pathname.endsWith(above)) return pathname.slice(0, -above.length) + filled;
  }
  return undefined;
}

function notKept(context: RunContext): readonly RunRemark[] {
  const { document, exchanges } = context;
  return exchanges.flatMap((exchange, index): readonly RunRemark[] => {
    const { operation, sent } = exchange;
    if (operation.body?.format !== 'json' || sent.body === undefined || !isPlainCall(exchange) || !isSuccessfulChange(exchange)) return [];
    const pathname = resourceOf(context, exchange);
    const read = pathname === undefined ? undefined : readAfter(context, index, pathname);
    const shown = read === undefined ? undefined : jsonValue(read);
    if (!isObject(shown)) return [];
    const view = rootView(document, operation.body.pointer);
    return Object.entries(readBody(operation, sent.body).values).flatMap(([name, given]): readonly RunRemark[] => {
      const { nodes } = view.member(name).view;
      const isHidden = nodes.some(
        ({ schema }) => schema['writeOnly'] === true || schema['readOnly'] === true || schema['x-secret'] === true,
      );
      const value = member(shown, name);
      if (isHidden || nodes.length === 0 || typeof value !== typeof given || isSame(given, value)) return [];
      return [
        {
          exchange,
          pointer: `/${name}`,
          verdict: verdictOf(operation.provenance),
          message: `the read after ${operation.id} does not have the value of ${name} that was sent`,
          expected: JSON.stringify(given).slice(0, 80),
          observed: JSON.stringify(value).slice(0, 80),
          at: nodes[0]?.pointer ?? operation.pointer,
          rule: 'kept',
          assertion: { kind: 'value', pointer: joinPointer('', name), value: given, isEqual: true },
          shownBy: [exchange, ...(read === undefined ? [] : [read])],
          cause: `${operation.pointer} kept`,
        },
      ];
    });
  });
}

function isSame(given: unknown, value: unknown): boolean {
  if (typeof given !== 'string' || typeof value !== 'string') return typeof given === 'object' || given === value;
  const [one, other] = [given, value].map((text) => text.normalize('NFC').trim().toLowerCase());
  return one === other || (!Number.isNaN(Date.parse(given)) && Date.parse(given) === Date.parse(value));
}

function notListed(context: RunContext): readonly RunRemark[] {
  const { document, validator, operations, exchanges } = context;
  return operations.flatMap((list): readonly RunRemark[] => {
    const item = operations.find(({ method, path }) => method === 'GET' && path.startsWith(`${list.path}/{`) && path.endsWith('}'));
    if (list.method !== 'GET' || hasPathParameters(list.path) || item === undefined || isFiltered(context, list)) return [];
    const last = exchanges.findLastIndex(
      ({ operation, sent, status }) =>
        operation.id === list.id &&
        (sent.purpose === 'call' || sent.purpose === 'next-page') &&
        sent.credential === 'account' &&
        isSuccess(status),
    );
    const first = exchanges.findLastIndex(
      ({ operation, sent }, index) => index <= last && operation.id === list.id && sent.purpose === 'call',
    );
    const end = exchanges[last];
    if (first < 0 || end === undefined || pagingOf(document, list)?.next(end) !== undefined) return [];
    const pages = exchanges
      .slice(first, last + 1)
      .filter(({ operation, sent }) => operation.id === list.id && sent.credential === 'account');
    const listed = new Set(pages.flatMap((page) => identifiersFor(document, item, page)));
    return exchanges.slice(0, first).flatMap((exchange): readonly RunRemark[] => {
      if (exchange.operation.path !== list.path || !isPlainCall(exchange) || !isSuccessfulChange(exchange)) return [];
      const path = discoverCreated({ document, validator, operation: item, operations, exchange });
      const id = path === undefined ? undefined : Object.values(path)[0];
      if (id === undefined || listed.has(id)) return [];
      return [
        {
          exchange,
          pointer: '',
          verdict: verdictOf(list.provenance),
          message: `${list.id} does not list what ${exchange.operation.id} created`,
          expected: 'the created resource in the list',
          observed: `${listed.size} others`,
          at: list.pointer,
          rule: 'listed',
          assertion: pages.length > 1 ? undefined : { kind: 'lists-created' },
          shownBy: [exchange, end],
        },
      ];
    });
  });
}

/** Whether a list can leave out resources because of a required parameter, or pages that the document does not describe. */
function isFiltered({ document }: RunContext, list: Operation): boolean {
  const isPaged = list.parameters.some(({ in: place, name }) => place === 'query' && /^(?:page|per_?page|offset|skip|start)/i.test(name));
  return (
    list.parameters.some(({ in: place, required }) => place === 'query' && required) || (isPaged && !isWalked(pagingOf(document, list)))
  );
}

/** Polls that find nothing at the address of an earlier `Location`. A resource whose identifier is in a body can exist later. */
function notFound({ exchanges }: RunContext): readonly RunRemark[] {
  const named = new Set(
    exchanges.flatMap(({ status, headers: { location }, sent: { url } }) =>
      status === 202 && location !== undefined && URL.canParse(location, url) ? [new URL(location, url).pathname] : [],
    ),
  );
  return exchanges
    .filter(({ sent, status }) => sent.purpose === 'poll' && (status === 404 || status === 410) && named.has(new URL(sent.url).pathname))
    .map((exchange) => ({
      exchange,
      pointer: '',
      verdict: 'violation' as const,
      message: 'the service accepts work and names a resource for its progress that does not exist',
      expected: 'the progress of the work',
      observed: String(exchange.status),
      at: exchange.operation.pointer,
      rule: 'work',
      assertion: { kind: 'status', pattern: '^(?!404|410)' },
    }));
}
