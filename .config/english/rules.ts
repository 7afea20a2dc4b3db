/** The rules of openapi/WRITING-STYLE.md that a machine can check. */

export interface EnglishRule {
  /** Matched against running text: comment markers and line breaks are already replaced by spaces. Needs the flags `g` and `i`. */
  readonly pattern: RegExp;
  /** Tells the author what to write instead. */
  readonly advice: string;
  /** Sentences that the rule must report. */
  readonly bad: readonly string[];
  /** Similar sentences that the rule must not report. */
  readonly good: readonly string[];
}

export const englishRules: readonly EnglishRule[] = [
  {
    pattern: /\b(?:whoever|whomever|nobody's|somebody's|anybody's|nobody else's|somebody else's)\b/gi,
    advice: 'Name the actor: "the instance that claimed the row", "another account".',
    bad: ['Whoever claims the row first wins.', "A late result is nobody's."],
    good: ['The instance that claims the row first wins.', 'Nobody is allowed in.'],
  },
  {
    pattern: /\b(?:at the most|at the least|any more|for ever|so long and no longer|of its own accord)\b/gi,
    advice: 'Use "at most", "at least", "no longer", "forever" or a figure.',
    bad: ['It waits 5 seconds at the most.', 'The key is not valid any more.'],
    good: ['It waits at most 5 seconds.', 'The key is no longer valid.', 'Two more attempts follow.'],
  },
  {
    pattern:
      /\b(?:nobody can mend|any longer than that|heard of no more|what is under way|in place of the (?:one|other)|as good as before)\b/gi,
    advice: 'Name the thing: "the requests in progress", "a silent instance".',
    bad: ['Finishes what is under way.', 'A node that is heard of no more counts as dead.'],
    good: ['Finishes the requests in progress.', 'A silent instance counts as dead.'],
  },
  {
    pattern: /\b(?:comes? about|came about|left over|half-done|falls? due|fell due|fallen due)\b/gi,
    advice: 'Use the term: "takes effect", "orphaned", "interrupted", "is due".',
    bad: ['An undone delivery never comes about.', 'Reservations that are left over are undone.', 'Does all that falls due.'],
    good: ['An undone delivery never takes effect.', 'Orphaned reservations are undone.', 'Runs the jobs that are due.'],
  },
  {
    pattern:
      /\b(?:stands? in|stood in|stands? (?:beside|under|below|above|between|twice|there|nowhere|wherever|for ever)|bears? the|beside)\b/gi,
    advice: 'Say where it is or what it does: "is in", "next to", "replaces", "has".',
    bad: ['The test stands beside the rule.', 'It bears the name of the field.', 'A member that stands twice.'],
    good: ['The test is next to the rule.', 'It has the name of the field.', 'GET stands for a read.'],
  },
  {
    pattern:
      /(?<!there )\b(?:is|are|was|were|be) no (?!longer\b|more than\b|less than\b|later than\b|earlier than\b|need\b|one\b|such\b|way\b|\w+er than\b)[a-z]+/gi,
    advice: 'Write "is not a …", not "is no …".',
    bad: ['cores is no integer', 'These are no tokens.'],
    good: ['cores is not an integer', 'There is no such path.', 'The key is no longer valid.', 'The total is no more than the limit.'],
  },
  {
    pattern:
      /\banswers? (?:it|them|null|true|false|with what|\d{3})\b|\b(?:is|are|was|were|be|been) answered(?: (?:with|by|what|the|as|where|in)\b|, which)/gi,
    advice: 'A call returns data; a server responds with a status.',
    bad: [
      'GET /vm/list/hosts answers it.',
      'The path answers 404.',
      'A refusal is answered with 409.',
      'An unknown name is answered as not found.',
    ],
    good: ['GET /vm/list/hosts returns it.', 'The server responds with 404.', 'The caller read two answers.'],
  },
  {
    pattern:
      /(?:^|[.!?:;] +|@returns +)what (?:it|they|he|a|an|the|was|is|are|has|have|does|do|comes|came|falls|follows|another|every|each|nothing|fails|failed)\b(?![^.!?]*\?)/gi,
    advice: 'Start with a noun: "The result …", "The work that …", not "What …".',
    bad: ['Does nothing. What it comes to is ignored.', '@returns what the caller sends'],
    good: ['Does nothing. The result is ignored.', 'What does the caller send? A form.', 'It checks what the caller sends.'],
  },
  {
    pattern: /\b(?:graver|gravest|milder|mildest)\b/gi,
    advice: 'Verdicts and problems are "more severe" or "less severe".',
    bad: ['The gravest findings come first.'],
    good: ['The most severe findings come first.'],
  },
  {
    pattern: /\b(?:something|anything|nothing) to say (?:of|about|to)\b|\bwhat (?:comes|came) of (?:it|them)\b/gi,
    advice: 'Name the result: "the check has no findings", "the outcome".',
    bad: ['Whether it has anything to say of an operation.', 'Lists every check, and what came of it.'],
    good: ['Whether it can have findings on an operation.', 'Lists every check with its outcome.', 'He has something to say.'],
  },
  {
    pattern: /\b(?:is|are) there to (?!do\b|stay\b)[a-z]+|\basked of (?:each|it|them|both)\b/gi,
    advice: 'Name the actor and the verb: "the check must find the defect", "the run sends the request to both".',
    bad: ['A defect that one check is there to find.', 'The price is asked of each service.'],
    good: ['A defect that one check must find.', 'What is there to do?', 'The run asks each service for the price.'],
  },
  {
    pattern: /\b(?:is|are|was|were) (?:not|never) answered\b|\banswered with success\b/gi,
    advice: 'A request has no response, or the server responds with a status.',
    bad: ['A request that is not answered is lost.', 'Every operation answered with success.'],
    good: ['A request without a response is lost.', 'Every operation responded with success.', 'The support team answered.'],
  },
  {
    pattern: /(?:, and|, or|\bat most|\bat least|\bthan) what (?:is|it|they|was|were|has)\b/gi,
    advice: 'Name it: "its price", "the rest of the invoice", "the purpose of the key".',
    bad: ['Purpose of the key, and what it allows.', 'At most what is left of the invoice.'],
    good: ['The purpose and the access of the key.', 'It checks what the caller sends.'],
  },
  {
    pattern: /\bcarr(?:y|ies|ied|ying) (?:the|a|an|its) [a-z]+ out\b/gi,
    advice: 'Keep the verb together: "carries out the change".',
    bad: ['The hypervisor has failed to carry the change out.'],
    good: ['The hypervisor has not carried out the change.'],
  },
  {
    pattern: /\bsendings\b|\b(?:a|one|each|every|another|first|second|third|earlier|further) sending\b(?! (?:a|an|the|it|requests?)\b)/gi,
    advice: 'Use "attempt" or "retry".',
    bad: ['Milliseconds that one sending may take.', 'There are two more sendings.'],
    good: ['Milliseconds that one attempt may take.', 'It returns the request without sending it.'],
  },
  {
    pattern: /\bwhat (?:became|becomes) of\b|\bthere (?:is|are|was|were) none of\b|\bnothing to say\b|\bunder way\b/gi,
    advice: 'Name it: "the outcome", "unknown identifiers", "no findings", "in progress".',
    bad: ['Says what became of the purchase.', 'Names of what there is none of.', 'publint has nothing to say', 'A change is under way.'],
    good: ['Says whether the purchase was carried out.', 'Identifiers that do not exist.', 'A change is in progress.'],
  },
];
