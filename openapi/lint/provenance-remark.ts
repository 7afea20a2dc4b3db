import type { Oas3Decorator } from '@redocly/openapi-core';

import { ALL_RULES } from './constraints.ts';
import { entriesOf, type Fields, isFields, isText } from './nodes.ts';

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

/** The remark on the limits of a schema whose existence is shown: one for all of them, then the keywords that differ. */
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

/** Adds a remark to the description of a part, once: by default the one that its own provenance requires. */
function addRemark(part: unknown, remark = isFields(part) ? remarkOn(part) : undefined): void {
  if (!isFields(part) || remark === undefined) return;
  const said = isText(part['description']) ? part['description'].trimEnd() : '';
  if (!said.includes(remark)) Object.assign(part, { description: said === '' ? remark : `${said}\n\n${remark}` });
}

/**
 * Docs and generated types show descriptions, not x- keys: the bundle says in the description what the specification does not show.
 * It says so only where the key is written, and not again for everything that inherits it.
 */
export const provenanceRemark: Oas3Decorator = () => ({
  any: {
    leave: (node: unknown, { type }) => {
      // A key of that name inside an example is data.
      if (type.extensionsPrefix !== undefined) addRemark(node);
    },
  },
  // Docs show the description of a body, and not that of the schema that all of it has.
  RequestBody: {
    leave: (body, { resolve }) => {
      for (const [, media] of entriesOf(body.content)) {
        const { node: schema } = resolve<object>(isFields(media) && isFields(media['schema']) ? media['schema'] : {});
        if (isFields(schema)) addRemark(body, remarkOn(schema));
      }
    },
  },
  // The keys next to a reference belong to no visited node.
  ref: { leave: (node) => addRemark(node) },
});
