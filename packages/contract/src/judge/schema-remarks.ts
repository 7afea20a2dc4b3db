import type { Issue } from '../document/issues.ts';
import { provenanceOfIssue } from '../document/place.ts';
import { joinPointer, lastToken, parentPointer, pointerTokens, valueAt } from '../document/pointer.ts';
import { observe } from '../exchange/observe.ts';
import { assertionOf } from './assertion.ts';
import type { ResponseContext } from './check.ts';
import { verdictOf } from './finding.ts';
import type { Remark } from './finding.ts';
import { proposalFor } from './propose.ts';

/** Remarks on the issues of one check. */
export function schemaRemarks(context: ResponseContext, isMine: (issue: Issue, value: unknown) => boolean): readonly Remark[] {
  const { body } = context.exchange;
  if (body.kind !== 'json') return [];
  return context
    .issues()
    .filter((issue) => isMine(issue, valueAt(body.value, issue.path)))
    .map((issue) => remarkOf(context, issue));
}

/** The remark on one broken rule. */
function remarkOf({ document, exchange, response, json, issues }: ResponseContext, issue: Issue): Remark {
  const value = exchange.body.kind === 'json' ? exchange.body.value : undefined;
  const described = { pointer: json?.pointer ?? '', provenance: response?.provenance ?? 'shown' };
  const provenance = provenanceOfIssue(document, described, value, issue);
  const isForbidden = issue.keyword === 'additionalProperties';
  return {
    pointer: issue.path,
    verdict: verdictOf(provenance),
    // All forbidden properties of a closed schema are one cause.
    message: isForbidden
      ? `${generalised(parentPointer(issue.path), value) || 'the body'} has properties that the document forbids`
      : `${generalised(issue.path, value) || 'the body'} ${issue.message}`,
    expected: isForbidden ? issue.message.replace('is not known here; known are', 'only') : issue.message,
    observed: isForbidden ? forbiddenNames(issues(), issue) : observe(document, described.pointer, value, issue.path),
    at: issue.schemaPath,
    // The same for all values that break the rule, so that one cause is one finding.
    ...(isRelativeUri(issue, valueAt(value, issue.path)) ? { cause: 'relative URI' } : {}),
    rule: issue.keyword === 'required' ? `${issue.message} ${lastToken(issue.path)}` : isForbidden ? 'forbidden' : issue.message,
    proposal: provenance === 'shown' ? undefined : proposalFor(issue, valueAt(value, issue.path)),
    assertion: assertionOf(issue),
  };
}

/** Issues by schema and object. A long list may have some in each item, so they are grouped once. */
const forbidden = new WeakMap<readonly Issue[], ReadonlyMap<string, readonly Issue[]>>();

/** The names of all properties of one object that a schema forbids. */
function forbiddenNames(issues: readonly Issue[], issue: Issue): string {
  const known = forbidden.get(issues) ?? Map.groupBy(issues, issueObjectKey);
  forbidden.set(issues, known);
  return (known.get(issueObjectKey(issue)) ?? []).map(({ path }) => lastToken(path)).join(', ');
}

function issueObjectKey({ path, schemaPath }: Issue): string {
  return `${schemaPath}\n${parentPointer(path)}`;
}

/** Whether a service sends a relative reference in place of a URI. It does so everywhere, so this is one cause. */
function isRelativeUri({ keyword, params }: Issue, value: unknown): boolean {
  return (
    keyword === 'format' &&
    params['format'] === 'uri' &&
    typeof value === 'string' &&
    !URL.canParse(value) &&
    URL.canParse(value, 'https://base.invalid/')
  );
}

/** A pointer with `*` for indexes: the same for all items of a list. */
export function generalised(pointer: string, root: unknown): string {
  let at: unknown = root;
  let text = '';
  for (const token of pointerTokens(pointer)) {
    text = joinPointer(text, Array.isArray(at) ? '*' : token);
    at = valueAt(at, joinPointer('', token));
  }
  return text;
}
