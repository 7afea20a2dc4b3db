/** Variables that keep the tools of tests from asking their servers for newer versions. `npx`, for example, uses the pnpm that it has downloaded. */
export const QUIET_TOOLS = {
  DENO_NO_UPDATE_CHECK: '1',
  NO_UPDATE_NOTIFIER: '1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
} as const;
