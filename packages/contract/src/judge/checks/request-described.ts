import { mediaTypeName } from '../../document/media-type.ts';
import type { RequestBody } from '../../document/operation.ts';
import { isSpread, isSpreadName, issuesOfText, hasListOrObject } from '../../document/parameters.ts';
import { provenanceOfIssue } from '../../document/place.ts';
import { valueAt } from '../../document/pointer.ts';
import type { Provenance } from '../../document/provenance.ts';
import { isSuccess } from '../../exchange/exchange.ts';
import { observe, shapeOf } from '../../exchange/observe.ts';
import { parameterText } from '../../exchange/runtime-expression.ts';
import { readBody } from '../../form/body.ts';
import { always } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import type { Remark, Verdict } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import { proposalFor } from '../propose.ts';

/** Statuses with which a service refuses an invalid form. */
const FORM_REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);

export const requestDescribed: Check = {
  id: 'request-described',
  claim: 'Clients in recorded traffic send requests as the document describes them.',
  example: 'A recorded request sends `colour=red`, and the form of the document has no such field.',
  judges:
    'Judges requests of other programs: content type and fields of the body, path and query parameters, required headers. A request that breaks a rule with the provenance `shown` is a mistake of the client, whatever the response. For an inferred rule or one that is not shown, the response decides: the finding is learned if the service accepts the request, a mistake of the client if the service refuses the form (400, 413, 415, 422), and unverified otherwise. Does not judge requests of this program, because some are invalid on purpose.',
  client:
    'This finding concerns the code that sent the request, not the service. The service refuses such a request or misunderstands it. Code that uses the generated client could not send it, because it would not compile.',
  about: 'client',
  needs: ['traffic'],
  undescribed: 'also',
  applies: always,
  untestable: 'it is about a client: repeat what the client does',
  checkResponse(context) {
    if (context.exchange.sent.purpose !== 'traffic') return [];
    return [...bodyRemarks(context), ...parameterRemarks(context)];
  },
};

function bodyRemarks(context: ResponseContext): readonly Remark[] {
  const { exchange, document } = context;
  const { operation, sent } = exchange;
  const body = sent.body ?? '';
  const isBodyDescribed = valueAt(document, `${operation.pointer}/requestBody`) !== undefined;
  const described = operation.body;
  if (described === undefined) {
    if (isBodyDescribed || body === '') return [];
    return [
      clientRemark(operation.pointer, 'body', {
        message: 'the client sends a body, which the document does not describe',
        expected: 'no body',
        observed: `${body.length} characters`,
      }),
    ];
  }
  const type = mediaTypeName(sent.headers['content-type'] ?? '');
  const expected = mediaTypeName(described.mediaType);
  if (body !== '' && type !== expected) {
    const observed = type === '' ? 'no content type' : type;
    return [
      clientRemark(described.pointer, `content-type ${type}`, {
        message: `the client sends its ${described.format === 'form' ? 'form' : 'body'} as ${observed}`,
        expected,
        observed,
      }),
    ];
  }
  if (body === '' && !described.required) return [];
  return formRemarks(context, described, body);
}

function formRemarks(context: ResponseContext, form: RequestBody, body: string): readonly Remark[] {
  const { exchange, document, validator, response } = context;
  const { values, issues } = readBody(exchange.operation, body);
  return [...issues, ...validator.compile(form.pointer)(values)].flatMap((issue): readonly Remark[] => {
    const described = { pointer: form.pointer, provenance: exchange.operation.provenance };
    const provenance = provenanceOfIssue(document, described, values, issue);
    const verdict = verdictOfRequest(provenance, exchange.status);
    const isLearned = verdict === 'learned';
    if (isLearned && isKnownFor(document, response, 'x-for-invalid-form')) return [];
    const value = valueAt(values, issue.path);
    const isUnknown = issue.keyword === 'additionalProperties' || issue.keyword === 'unevaluatedProperties';
    const remark = clientRemark(issue.schemaPath === '' ? form.pointer : issue.schemaPath, `${issue.path} ${issue.message}`, {
      message: `the client's ${form.format === 'form' ? 'form' : 'body'}${issue.path === '' ? '' : `: ${issue.path.slice(1)}`} ${issue.message}`,
      expected: issue.message,
      observed: isUnknown ? shapeOf(value) : observe(document, form.pointer, values, issue.path),
    });
    if (!isLearned) return [{ ...remark, verdict }];
    return [
      {
        ...remark,
        verdict: 'learned',
        proposal: (isUnknown ? undefined : proposalFor(issue, value)) ?? occasionProposal(context, 'x-for-invalid-form'),
      },
    ];
  });
}

function parameterRemarks({ document, exchange, validator }: ResponseContext): readonly Remark[] {
  const { operation, sent } = exchange;
  const query = new URL(sent.url).searchParams;
  const known = new Set(operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
  for (const key of operation.security?.keys ?? []) if (key.in === 'query') known.add(key.name);
  const unknown = [...new Set(query.keys())].filter(
    (name) => !known.has(name) && !operation.parameters.some((parameter) => isSpreadName(document, parameter, name)),
  );
  return [
    ...unknown.map((name) =>
      clientRemark(operation.pointer, `query ${name}`, {
        message: `the client sends the query parameter ${name}, which the document does not describe`,
        expected: [...known].join(', ') || 'no query parameters',
        observed: `a text of ${query.get(name)?.length ?? 0} characters`,
      }),
    ),
    ...operation.parameters.flatMap((parameter) => {
      if (isSpread(document, parameter)) return [];
      const text = parameter.in === 'cookie' ? undefined : parameterText(exchange, parameter);
      const at = parameter.pointer ?? operation.pointer;
      const what = `the ${parameter.in} parameter ${parameter.name}`;
      if (text === undefined)
        return parameter.required && parameter.in !== 'cookie'
          ? [clientRemark(at, `missing ${what}`, { message: `the client does not send ${what}`, expected: what, observed: 'nothing' })]
          : [];
      if (parameter.pointer === undefined || hasListOrObject(document, parameter)) return [];
      const described = { pointer: parameter.pointer, provenance: parameter.provenance };
      return issuesOfText(validator.compile(parameter.pointer), text)
        .slice(0, 1)
        .map((issue) => {
          const provenance = provenanceOfIssue(document, described, text, issue);
          const verdict = verdictOfRequest(provenance, exchange.status);
          const remark = clientRemark(at, `${what} ${issue.message}`, {
            message: `the client's ${parameter.in} parameter ${parameter.name} ${issue.message}`,
            expected: issue.message,
            observed: `a text of ${text.length} characters`,
          });
          return { ...remark, verdict, proposal: verdict === 'learned' ? proposalFor(issue, text) : undefined };
        });
    }),
  ];
}

/** An accepted request shows that the service does not apply the broken rule; a refused form shows that it does. */
function verdictOfRequest(provenance: Provenance, status: number): Verdict {
  if (provenance === 'shown' || FORM_REFUSALS.has(status)) return 'violation';
  return isSuccess(status) ? 'learned' : 'unverified';
}

function clientRemark(at: string, rule: string, said: Pick<Remark, 'message' | 'expected' | 'observed'>): Remark {
  return { pointer: '', verdict: 'violation', at, rule, ...said };
}
