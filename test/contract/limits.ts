import { FIXED_LIMITS, LIMITS } from '../../src/api/limits.ts'
import { fields, type Fields } from './expect.ts'

const OF_SPEC = { ...LIMITS, ...FIXED_LIMITS }

/** Every limit of a service by name. */
export type ServiceLimits = Record<keyof typeof OF_SPEC, number>

/** The limits that `/me` reports, and the specification's where it reports no integer. */
export function limitsIn(me: Fields): ServiceLimits {
  const reported = fields(me['limits'])
  const limits = Object.entries(OF_SPEC).map(([name, limit]) => {
    const value = reported[name]
    return [name, Number.isSafeInteger(value) ? value : limit]
  })
  return Object.fromEntries(limits) as ServiceLimits
}
