/** The guides, in the order in which they are read. */
export interface Guide {
  /** File in `site/guides`, without its extension. */
  readonly name: string;
  readonly title: string;
}

export interface GuideGroup {
  readonly title: string;
  readonly guides: readonly Guide[];
}

export const guideGroups: readonly GuideGroup[] = [
  {
    title: 'Buying',
    guides: [
      { name: 'five-tasks', title: 'Five tasks' },
      { name: 'first-purchase', title: 'Your first purchase' },
      { name: 'lost-responses', title: 'Lost responses' },
      { name: 'life-of-a-vm', title: 'The life of a VM' },
      { name: 'dedicated-servers', title: 'Dedicated servers' },
      { name: 'domains', title: 'Register domains' },
      { name: 'domain-transfer', title: 'Transfer a domain' },
    ],
  },
  {
    title: 'Selling',
    guides: [
      { name: 'billing-panel', title: 'A billing panel' },
      { name: 'credit-limit', title: 'The credit limit' },
      { name: 'bookkeeping', title: 'Bookkeeping' },
      { name: 'one-time-codes', title: 'One-time codes' },
    ],
  },
  {
    title: 'Integrating',
    guides: [
      { name: 'going-live', title: 'Going live' },
      { name: 'polling', title: 'Polling' },
      { name: 'events-and-webhooks', title: 'Events and webhooks' },
      { name: 'pagination-and-rate-limits', title: 'Pagination and rate limits' },
      { name: 'versions-and-deprecation', title: 'Versions and deprecation' },
      { name: 'php', title: 'Calling the API from PHP' },
      { name: 'command-line', title: 'The command line' },
      { name: 'what-is-missing', title: 'What this API cannot do' },
      { name: 'integrations', title: 'Languages and tools' },
      { name: 'other-clients', title: 'Moving from another client' },
    ],
  },
  {
    title: 'Testing',
    guides: [
      { name: 'console', title: 'The console' },
      { name: 'a-month', title: "A month on the sandbox's clock" },
      { name: 'faults', title: 'Faults in your tests' },
      { name: 'contract-tests', title: 'Contract tests in your CI' },
    ],
  },
  {
    title: 'Running',
    guides: [
      { name: 'real-machines', title: 'Machines that run' },
      { name: 'embedded-and-postgresql', title: 'Embedded and on PostgreSQL' },
      { name: 'threat-model', title: 'Threat model' },
      { name: 'open-questions', title: 'What the specification leaves open' },
      { name: 'how-this-is-tested', title: 'How this is tested' },
      { name: 'glossary', title: 'Glossary' },
    ],
  },
];
