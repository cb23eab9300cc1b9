/** Clocks to judge by. */
import { Clocks } from '../../src/kernel/own-key/clocks.ts'

/** A service whose clock is set as the machine's. */
export const agreeingClocks = (): Clocks => new Clocks(() => Date.now())
