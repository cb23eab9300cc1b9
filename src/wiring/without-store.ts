import { Results } from '../control/protocol.ts'
import type { Operations } from '../control/operations.ts'
import type { OperatorError } from '../errors.ts'

/** The operations where no store opens: each says why. */
export function refusing(problem: OperatorError): Operations {
  const refuse = (): Promise<never> => Promise.reject(problem)
  const all = Object.keys(Results).map((name) => [name, refuse])
  return Object.fromEntries(all)
}
