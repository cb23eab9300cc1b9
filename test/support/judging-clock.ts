/** Clocks to judge by. */
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { Clocks } from '../../src/kernel/clocks.ts'

/** A service whose clock is set as the machine's. */
export const agreeingClocks = (): Clocks => new Clocks(SYSTEM_TIME, () => Date.now())
