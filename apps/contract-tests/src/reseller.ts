import type { OpenApiDocument } from '@reseller/contract';
import { pageOverlapCheck } from '@reseller/contract/engine';
import type { Extension } from '@reseller/contract/engine';

import { envelopeKept, requestIdUnique } from './envelope-checks.ts';
import { oneTimeCodes } from './one-time-codes/extension.ts';
import type { PresentCode } from './one-time-codes/extension.ts';

/** The list to whose front every request adds an entry, so that items move to the next page between two requests. */
const REQUEST_LOG = '/account/requests';

/**
 * The rules of the reseller API that its document cannot express: one-time codes, the envelope of all responses, and a list that grows
 * while it is read.
 */
export function resellerRules(document: OpenApiDocument, present?: PresentCode): readonly Extension[] {
  return [oneTimeCodes(document, present), { checks: OWN_CHECKS, steps: () => [], onExchange: async () => {} }];
}

const growingLog = pageOverlapCheck(({ operation }, between) => (operation.path === REQUEST_LOG ? between : 0));

/** The checks of this API that need no further requests. */
export const OWN_CHECKS = [envelopeKept, requestIdUnique, growingLog];
