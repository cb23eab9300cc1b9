/** Of Vitest's global setup, which runs once for each project: what is made once in a run. */
import { nameBundle } from './build.ts'
import { stopSharedCluster } from './postgres.ts'
import { makeRunFolder, removeRunFolder } from './run-folder.ts'

/** Only names what tests may ask for; the first test that asks has it made. */
export function setup(): void {
  makeRunFolder()
  nameBundle()
}

/** Ends it all. */
export function teardown(): void {
  stopSharedCluster()
  removeRunFolder()
}
