/** fast-check under the one seed of the tests; every test of a property takes it from here. */
import * as fc from 'fast-check'
import { SEED, runs } from './chance.ts'

fc.configureGlobal({ seed: SEED, numRuns: runs(100) })

export { fc }
