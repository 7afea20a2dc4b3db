import { provenanceOfIssue } from '../../document/place.ts';
import { parentPointer } from '../../document/pointer.ts';
import { MASK } from '../../document/secrets.ts';
import { issuesOfSimple } from '../../document/simple-style.ts';
import { isSecretHeader, isSecretParameter } from '../../exchange/mask-exchange.ts';
import { shortText } from '../../exchange/observe.ts';
import { assertionOf } from '../assertion.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import type { Remark } from '../finding.ts';
import { proposalFor } from '../propose.ts';

export const headerPresent: Check = {
  id: 'header-present',
  claim: 'Responses have the headers that the document requires, and described headers match their schema.',
  example: 'The document requires `X-Total` on a list, and a response does not have it.',
  judges:
    'Uses `required` and the schema of each header. Converts the text of a header to the type in its schema: numbers, true and false, lists with commas, and objects.',
  client: 'Code that reads `Retry-After` or a page count gets no usable value.',
  applies: ({ responses }) => Object.values(responses).some(({ headers }) => Object.keys(headers).length > 0),
  checkResponse({ document, exchange, response, validator }) {
    return Object.entries(response?.headers ?? {}).flatMap(([key, header]): readonly Remark[] => {
      const text = exchange.headers[key];
      const at = header.pointer === undefined ? `${response?.holder ?? ''}/headers/${header.name}` : parentPointer(header.pointer);
      const base = { pointer: '', at, cause: `header ${key}` };
      if (text === undefined) {
        if (!header.required) return [];
        return [
          {
            ...base,
            verdict: verdictOf(header.provenance),
            message: `the header ${header.name} is missing`,
            expected: `the header ${header.name}`,
            observed: 'nothing',
            rule: 'missing',
            assertion: { kind: 'header', name: key, isPresent: true },
            proposal: header.provenance === 'shown' ? undefined : { kind: 'remove-entry' as const, at, key: 'required' },
          },
        ];
      }
      if (header.pointer === undefined) return [];
      const check = validator.compile(header.pointer);
      const [issue] = header.isJson
        ? check(jsonIn(text))
        : issuesOfSimple(document, { pointer: header.pointer, explode: header.explode }, text, check);
      if (issue === undefined) return [];
      const provenance = provenanceOfIssue(document, { pointer: header.pointer, provenance: header.provenance }, text, issue);
      return [
        {
          ...base,
          verdict: verdictOf(provenance),
          message: `the header ${header.name} ${issue.path === '' ? '' : `has ${issue.path.slice(1)}, which `}${issue.message}`,
          expected: issue.message,
          observed: isSecretHeader(exchange.operation, key, text) || isSecretParameter(document, header) ? MASK : shortText(text),
          rule: issue.message,
          assertion: issue.path === '' ? assertionOf(issue, key) : undefined,
          proposal: provenance === 'shown' ? undefined : proposalFor(issue, text),
        },
      ];
    });
  },
};

/** The value of a header whose text is JSON; the text itself when it is not. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
