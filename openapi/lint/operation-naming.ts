import type { Oas3Rule } from '@redocly/openapi-core';

/** Clients name their functions after operationId, docs list operations by summary under one tag. */
export const operationNaming: Oas3Rule = () => ({
  Operation(operation, { report, location }) {
    const { operationId, summary, tags = [] } = operation;
    if (operationId !== undefined && !/^[a-z]+([A-Z][a-z0-9]*)+$/.test(operationId)) {
      report({
        message: `The operationId ${operationId} is not a camelCase verb and noun. Write it like createVm or listDomains.`,
        location: location.child('operationId'),
      });
    }
    if (summary !== undefined && /[.!?]\s*$/.test(summary)) {
      report({
        message: `The summary "${summary}" ends with a full stop. Remove it, because a summary is a title.`,
        location: location.child('summary'),
      });
    }
    const words = summary?.trim().split(/\s+/).length ?? 0;
    if (summary !== undefined && (words < 2 || words > 5)) {
      report({
        message: `The summary "${summary}" is too ${words < 2 ? 'short' : 'long'}. Write an imperative of two to five words, and the rest into the description.`,
        location: location.child('summary'),
      });
    }
    if (tags.length !== 1) {
      report({
        message: `The operation has ${tags.length} tags. Give it exactly one of the tags that the root document declares.`,
        location: tags.length === 0 ? location.key() : location.child('tags').key(),
      });
    }
  },
});
