import type { OpenApiDocument } from '../../document/document.ts';
import type { OperationResponse } from '../../document/operation.ts';
import { schemaNodes, typesOf } from '../../document/schema.ts';
import { jsonOf, mediaFor } from '../../exchange/exchange.ts';
import { returnsJson } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { observedText } from '../observed.ts';
import type { Proposal } from '../proposal.ts';

export const bodyReadable: Check = {
  id: 'body-readable',
  claim: 'Where the document describes JSON, the body is JSON in UTF-8.',
  example: 'The document describes JSON for the status 404, and the response is the text `Not found`.',
  judges:
    'Parses the whole body, regardless of its content type. Under a range such as `*/*`, a body of another type than JSON is right, unless it is a text where the schema allows only objects and lists. Skips responses to HEAD, which have no body.',
  client: 'The client throws a parse error instead of the described error, which can hide the HTTP status.',
  applies: returnsJson,
  isFinal: true,
  checkResponse(context) {
    const { document, exchange, response, json } = context;
    if (
      response === undefined ||
      (json ?? jsonOf(response)) === undefined ||
      exchange.body.kind === 'json' ||
      exchange.body.kind === 'cut' ||
      exchange.sent.method === 'HEAD'
    )
      return [];
    // A response in another described content type need not be JSON.
    const described = isJson(exchange.mediaType) || exchange.body.kind === 'empty' ? undefined : mediaFor(response, exchange.mediaType);
    const range = response.content['*/*'];
    // Neither a text nor an empty body is an object or a list, also under a range of media types.
    const isUnstructured = exchange.body.kind === 'empty' || (described === range && exchange.mediaType.startsWith('text/'));
    const contradictsRange = isUnstructured && range?.pointer !== undefined && isStructured(document, range.pointer);
    if (!contradictsRange && (described !== undefined || range !== undefined)) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: 'the body is not the JSON that the document describes',
        expected: 'JSON',
        observed: exchange.body.kind === 'empty' ? 'an empty body' : exchange.body.problem,
        at: `${response.holder}/content`,
        // One error handler writes the errors of all operations.
        ...(exchange.status >= 400 ? { cause: `${exchange.mediaType} ${exchange.body.kind} ${response.provenance}` } : {}),
        rule: 'body',
        assertion: { kind: 'body', is: 'json' },
        proposal: response.provenance === 'shown' ? undefined : contentTypeProposal(context, response),
      },
    ];
  },
};

/** Whether a schema allows only objects and lists. */
function isStructured(document: OpenApiDocument, pointer: string): boolean {
  const types = typesOf(schemaNodes(document, pointer));
  return types.size > 0 && [...types].every((type) => type === 'object' || type === 'array');
}

/** Proposes the content type of the response, or any type when the response has none or falsely claims JSON. */
function contentTypeProposal({ exchange: { body, mediaType } }: ResponseContext, { holder }: OperationResponse): Proposal {
  const isAny = body.kind === 'empty' || mediaType === '' || isJson(mediaType);
  return { kind: 'add-entry', at: `${holder}/content`, key: isAny ? '*/*' : mediaType, value: observedText(body.kind === 'empty') };
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
