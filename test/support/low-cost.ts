/** For `node --import`: the low cost of passphrases for a process that loads the sources. */
import { registerHooks } from 'node:module'
import { lowCost } from './changed-constants.ts'

registerHooks({
  load(url, context, next) {
    const source = lowCost.load(url)
    return source === null ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})
