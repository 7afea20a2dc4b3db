import { createMatcher } from '../document/match.ts';
import type { Parameter } from '../document/operation.ts';
import { valueAt } from '../document/pointer.ts';
import { readBody } from '../form/body.ts';
import { cookieIn } from './credential.ts';
import type { Exchange } from './exchange.ts';
import { jsonValue } from './exchange.ts';

const EXPRESSION =
  /^\$(?:(url|method|statusCode)|(request|response)\.(?:header\.([!#$%&'*+.^_`|~0-9A-Za-z-]+)|(path|query)\.([^{}]+)|body(?:#(\/.*)?)?))$/;

/**
 * Evaluates an OpenAPI runtime expression for an exchange, such as `$response.body#/data/0/id`, `$response.header.Location`,
 * `$request.path.vmid`, `$request.query.page`, `$request.body#/domain` or `$url`, also embedded in a text as `{$…}`. Any other text
 * is a constant.
 * @returns undefined when the exchange does not have the part
 */
export function evaluate(exchange: Exchange, expression: string): unknown {
  if (expression.startsWith('$')) return partOf(exchange, expression);
  let isWhole = true;
  const text = expression.replace(/\{(\$[^{}]+)\}/g, (_, inner: string) => {
    const value = partOf(exchange, inner);
    isWhole &&= typeof value === 'string' || typeof value === 'number';
    return String(value);
  });
  return isWhole ? text : undefined;
}

function partOf(exchange: Exchange, expression: string): unknown {
  const [whole, alone, side, header, place, name, pointer] = EXPRESSION.exec(expression) ?? [];
  if (whole === undefined) return undefined;
  const { sent, status, headers } = exchange;
  if (alone !== undefined) return alone === 'url' ? sent.url : alone === 'method' ? sent.method : status;
  if (header !== undefined) return (side === 'request' ? sent.headers : headers)[header.toLowerCase()];
  if (place !== undefined && name !== undefined) return side === 'request' ? sentParameterOf(exchange, place, name) : undefined;
  const body = side === 'response' ? jsonValue(exchange) : readBody(exchange.operation, sent.body ?? '').values;
  return pointer === undefined ? body : valueAt(body, pointer);
}

function sentParameterOf({ operation, sent }: Exchange, place: string, name: string): string | undefined {
  const { pathname, searchParams } = new URL(sent.url);
  if (place === 'query') return searchParams.get(name) ?? undefined;
  const match = createMatcher([{ ...operation, method: sent.method }]);
  const segments = pathname.split('/').slice(1);
  // The base address may have a path of its own.
  for (let skipped = 0; skipped < segments.length; skipped++) {
    const found = match(sent.method, `/${segments.slice(skipped).join('/')}`);
    if (found !== undefined) return found.parameters[name];
  }
  return undefined;
}

/** The text of a parameter as it was sent. */
export function parameterText(exchange: Exchange, { name, in: place }: Parameter): string | undefined {
  const { headers } = exchange.sent;
  if (place === 'header') return headers[name.toLowerCase()];
  return place === 'cookie' ? cookieIn(headers['cookie'] ?? '', name) : sentParameterOf(exchange, place, name);
}
