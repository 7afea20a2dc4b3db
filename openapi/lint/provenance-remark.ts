import type { Oas3Decorator } from '@redocly/openapi-core';

import { ALL_RULES } from './constraints.ts';
import { entriesOf, isFields, isText } from './nodes.ts';
import type { Fields } from './nodes.ts';

const REMARKS = new Map<unknown, string>([
  ['inferred', '*Inferred: the specification does not state this.*'],
  ['not-shown', '*Not shown in the specification; this is our choice.*'],
]);
const LIMITS_REMARKS = new Map<unknown, string>([
  ['inferred', 'Limits inferred.'],
  ['not-shown', 'Limits not shown; they are our choice.'],
]);
const EXCEPTION_REMARKS = new Map<unknown, string>([
  ['shown', 'Shown'],
  ['inferred', 'Inferred'],
  ['not-shown', 'Not shown'],
]);

/** The remark on the limits of a shown schema: one remark for all limits, followed by the exceptions. */
function remarkOnLimits(written: unknown): string | undefined {
  if (!isFields(written)) return LIMITS_REMARKS.get(written);
  const exceptions = [...EXCEPTION_REMARKS].flatMap(([provenance, text]) => {
    const keywords = Object.keys(written).filter((keyword) => keyword !== ALL_RULES && written[keyword] === provenance);
    return keywords.length === 0 ? [] : `${text}: ${keywords.map((keyword) => `\`${keyword}\``).join(', ')}.`;
  });
  return [LIMITS_REMARKS.get(written[ALL_RULES]) ?? [], exceptions].flat().join(' ');
}

function remarkOn(part: Fields): string | undefined {
  const remark = REMARKS.get(part['x-provenance']);
  if (remark !== undefined) return remark;
  const limits = remarkOnLimits(part['x-constraints']);
  return isText(limits) ? `*${limits}*` : undefined;
}

/** Adds a remark to the description of a part, at most once. The default is the remark for its own provenance. */
function addRemark(part: unknown, remark = isFields(part) ? remarkOn(part) : undefined): void {
  if (!isFields(part) || remark === undefined) return;
  const said = isText(part['description']) ? part['description'].trimEnd() : '';
  if (!said.includes(remark)) Object.assign(part, { description: said === '' ? remark : `${said}\n\n${remark}` });
}

/**
 * Docs and generated types show descriptions but not x- keys, so the bundle adds the provenance to the description.
 * It does so only where the key is written, not for each part that inherits it.
 */
export const provenanceRemark: Oas3Decorator = () => ({
  any: {
    leave: (node: unknown, { type }) => {
      // Inside an example, a key with this name is data.
      if (type.extensionsPrefix !== undefined) addRemark(node);
    },
  },
  // Docs show the description of the request body, not that of its schema.
  RequestBody: {
    leave: (body, { resolve }) => {
      for (const [, media] of entriesOf(body.content)) {
        const { node: schema } = resolve<object>(isFields(media) && isFields(media['schema']) ? media['schema'] : {});
        if (isFields(schema)) addRemark(body, remarkOn(schema));
      }
    },
  },
  // Redocly does not visit the keys next to a reference.
  ref: { leave: (node) => addRemark(node) },
});
