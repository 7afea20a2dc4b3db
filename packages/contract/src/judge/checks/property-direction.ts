import { isObject, member } from '../../document/json.ts';
import { walkDescribed } from '../../document/place.ts';
import { joinPointer } from '../../document/pointer.ts';
import { rootView } from '../../document/view.ts';
import { isSuccess, jsonValue } from '../../exchange/exchange.ts';
import { readBody } from '../../form/body.ts';
import { describes } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import type { Remark } from '../finding.ts';

export const propertyDirection: Check = {
  id: 'property-direction',
  claim: 'Responses have no property that is only for requests, and the service takes over none that is only for responses.',
  example: '`password` is `writeOnly`, and a response has it.',
  judges:
    'Uses `writeOnly` and `readOnly`. Sends each property that is only for responses in a request; it is a finding when the response has the value that was sent. A service may ignore or refuse it.',
  client: 'A password comes back in a response and ends up in logs, or a client chooses identifiers and times that the service should set.',
  applies: describes(({ schema }) => schema['writeOnly'] === true || schema['readOnly'] === true),
  checkResponse: (context) => [...returned(context), ...takenOver(context)],
};

function returned({ document, exchange, response, json }: ResponseContext): readonly Remark[] {
  const pointer = json?.pointer;
  if (response === undefined || pointer === undefined || exchange.body.kind !== 'json') return [];
  const found: Remark[] = [];
  walkDescribed(document, { pointer, provenance: response.provenance }, exchange.body.value, (place) => {
    const node = place.nodes.find(({ schema }) => schema['writeOnly'] === true);
    if (node === undefined || place.value === null || place.pointer === '') return true;
    found.push({
      pointer: place.pointer,
      verdict: verdictOf(node.provenance),
      message: `${place.pattern} is only for requests, but the response has it`,
      expected: 'no such property (writeOnly)',
      observed: 'a value',
      at: `${node.pointer}/writeOnly`,
      rule: 'writeOnly',
      assertion: { kind: 'property', pointer: place.pointer, isPresent: false },
      isUrgent: true,
    });
    return false;
  });
  return found;
}

function takenOver({ document, exchange }: ResponseContext): readonly Remark[] {
  const { operation, sent, status } = exchange;
  const value = jsonValue(exchange);
  if (operation.body === undefined || sent.body === undefined || !isSuccess(status) || !isObject(value)) return [];
  const { values } = readBody(operation, sent.body);
  const view = rootView(document, operation.body.pointer);
  return Object.entries(values).flatMap(([name, given]): readonly Remark[] => {
    const node = view.member(name).view.nodes.find(({ schema }) => schema['readOnly'] === true);
    if (node === undefined || JSON.stringify(member(value, name)) !== JSON.stringify(given)) return [];
    return [
      {
        pointer: `/${name}`,
        verdict: verdictOf(node.provenance),
        message: `the service takes over ${name}, which is only for responses`,
        expected: 'a refusal, or a value of the service (readOnly)',
        observed: 'the value that was sent',
        at: `${node.pointer}/readOnly`,
        rule: 'readOnly',
        assertion: { kind: 'value', pointer: joinPointer('', name), value: given, isEqual: false },
      },
    ];
  });
}
