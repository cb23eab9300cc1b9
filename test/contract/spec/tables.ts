import { ENDPOINTS } from '../../../src/api/endpoints.ts'
import { ERROR_STATUS, type ErrorCode } from '../../../src/api/error-codes.ts'
import { FIXED_LIMITS, LIMITS } from '../../../src/api/limits.ts'
import { TRANSITIONS } from './states.ts'
import { sentences, type LimitName, type Proof } from './statements.ts'

/** Every row of the specification's tables, as cases name it. */
export const TABLES: Record<'endpoints' | 'errors' | 'limits' | 'transitions', readonly Proof[]> = {
  endpoints: ENDPOINTS.map(({ name }) => `endpoint ${name}` as const),
  errors: Object.keys(ERROR_STATUS).map((code) => `error ${code as ErrorCode}` as const),
  limits: Object.keys({ ...LIMITS, ...FIXED_LIMITS }).map(
    (name) => `limit ${name as LimitName}` as const,
  ),
  transitions: TRANSITIONS,
}

/** All that there is to prove. */
export function everything(): Proof[] {
  return [...sentences().map(({ name }) => name), ...Object.values(TABLES).flat()]
}
