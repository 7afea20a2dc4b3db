import type { Oas3Decorator } from '@redocly/openapi-core';

import { isFields, isText } from './nodes.ts';

const REMARKS = new Map<unknown, string>([
  ['inferred', '*Inferred: the specification does not state this.*'],
  ['not-shown', '*Not shown in the specification; this is our choice.*'],
]);

/** The description of a part with the remark that its provenance calls for, once; undefined if it calls for none. */
function remarked(part: Readonly<Record<string, unknown>>): string | undefined {
  const remark = REMARKS.get(part['x-provenance']);
  const description = part['description'];
  if (remark === undefined) return undefined;
  if (!isText(description)) return remark;
  return description.includes(remark) ? description : `${description.trimEnd()}\n\n${remark}`;
}

/** Docs and generated types show descriptions, not x- keys: the bundle says in the description what the specification does not show. */
export const provenanceRemark: Oas3Decorator = () => {
  function remark(node: unknown): void {
    if (!isFields(node)) return;
    const description = remarked(node);
    if (description !== undefined) Object.assign(node, { description });
  }
  return {
    any: {
      leave: (node: unknown, { type }) => {
        // A key of that name inside an example is data.
        if (type.extensionsPrefix !== undefined) remark(node);
      },
    },
    // The keys beside a reference belong to no visited node.
    ref: { leave: (node) => remark(node) },
  };
};
