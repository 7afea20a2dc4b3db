export { createTestService } from './service.ts';
export type { TestAccount, TestResellerConfig, TestService, TestServiceOptions } from './service.ts';
export { TestClock } from './clock.ts';
export type { Fault, Faults, Trigger } from './faults.ts';
export { responses, forms } from './generated/fixtures.gen.ts';
