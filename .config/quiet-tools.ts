/** Variables that keep the tools of tests from asking their servers for a newer version. */
export const QUIET_TOOLS = {
  DENO_NO_UPDATE_CHECK: '1',
  NO_UPDATE_NOTIFIER: '1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
} as const;
