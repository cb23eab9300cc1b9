import { OPERATIONS, type Operations } from '../control/operations.ts'
import type { OperatorError } from '../errors.ts'
import { deriveCalls } from '../rpc/operation.ts'

/** The operations where no store opens: each says why. */
export function refusing(problem: OperatorError): Operations {
  return deriveCalls(OPERATIONS, () => Promise.reject(problem))
}
