import type { Check } from './check.ts';
import { acceptHonoured } from './checks/accept-honoured.ts';
import { bodyComplete } from './checks/body-complete.ts';
import { bodyReadable } from './checks/body-readable.ts';
import { contentTypeDocumented } from './checks/content-type-documented.ts';
import { credentialEchoed } from './checks/credential-echoed.ts';
import { formAccepted } from './checks/form-accepted.ts';
import { formRefused } from './checks/form-refused.ts';
import { headerDescribed } from './checks/header-described.ts';
import { headerPresent } from './checks/header-present.ts';
import { identifierUnknown } from './checks/identifier-unknown.ts';
import { jsonUnambiguous } from './checks/json-unambiguous.ts';
import { keyChecked } from './checks/key-checked.ts';
import { keyRequired } from './checks/key-required.ts';
import { loginRedirect } from './checks/login-redirect.ts';
import { methodRefused } from './checks/method-refused.ts';
import { operationDescribed } from './checks/operation-described.ts';
import { pageOverlap } from './checks/page-overlap.ts';
import { parameterRefused } from './checks/parameter-refused.ts';
import { partSeen } from './checks/part-seen.ts';
import { preconditionKept } from './checks/precondition-kept.ts';
import { propertyDescribed } from './checks/property-described.ts';
import { propertyDirection } from './checks/property-direction.ts';
import { propertyFormat } from './checks/property-format.ts';
import { propertyNull } from './checks/property-null.ts';
import { propertyRequired } from './checks/property-required.ts';
import { propertyType } from './checks/property-type.ts';
import { removedStaysRemoved } from './checks/removed-stays-removed.ts';
import { requestDescribed } from './checks/request-described.ts';
import { serverError } from './checks/server-error.ts';
import { stateKept } from './checks/state-kept.ts';
import { statusAgrees } from './checks/status-agrees.ts';
import { statusDocumented } from './checks/status-documented.ts';
import { valueAllowed } from './checks/value-allowed.ts';
import { valueSeen } from './checks/value-seen.ts';

/** All checks. Those of one response run in this order, and stop after a final check with a remark. */
export const CHECKS: readonly Check[] = [
  bodyComplete,
  serverError,
  loginRedirect,
  keyRequired,
  keyChecked,
  formRefused,
  formAccepted,
  parameterRefused,
  identifierUnknown,
  methodRefused,
  removedStaysRemoved,
  statusDocumented,
  contentTypeDocumented,
  acceptHonoured,
  preconditionKept,
  headerPresent,
  credentialEchoed,
  headerDescribed,
  bodyReadable,
  jsonUnambiguous,
  requestDescribed,
  operationDescribed,
  statusAgrees,
  propertyRequired,
  propertyType,
  propertyNull,
  propertyFormat,
  valueAllowed,
  valueSeen,
  propertyDescribed,
  propertyDirection,
  partSeen,
  pageOverlap,
  stateKept,
];

/** All checks, with those of extensions. A check of an extension replaces the one with the same id. */
export function checksWith(more: readonly Check[]): readonly Check[] {
  const replaced = new Set(more.map(({ id }) => id));
  return [...CHECKS.filter(({ id }) => !replaced.has(id)), ...more];
}
