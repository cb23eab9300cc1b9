/** Exports of `postern/testing`: a sidecar for the tests of a bot. */
export { OperatorError } from '../errors.ts'
export { NotReadyError } from './readiness.ts'
export type { StartSidecarOptions, TestSettings } from './settings.ts'
export { startSidecar } from './start-sidecar.ts'
export type { TestSidecar } from './start-sidecar.ts'
