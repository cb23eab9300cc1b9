import { z } from 'zod'
import { firstProblem } from '../api/common.ts'
import { FIXED_LIMITS, LIMITS } from '../api/limits.ts'
import { usageError } from '../errors.ts'

/** Every limit that a world enforces, with the value of the specification. */
const {
  mediaMaxBytes: _ofClients,
  requestBytes: _ofListener,
  ...OF_SPEC
} = { ...LIMITS, ...FIXED_LIMITS }
type LimitValues = Record<keyof typeof OF_SPEC, number>

const shape = Object.entries(OF_SPEC).map(([name, value]) => [
  name,
  z.int().min(1).exactOptional().describe(`${value} in the specification`),
])

/** Limits that differ from those of the specification, by name. */
export const LimitsInput = z.strictObject(
  Object.fromEntries(shape) as Record<keyof LimitValues, z.ZodExactOptional<z.ZodInt>>,
)
export type LimitsInput = z.output<typeof LimitsInput>

/** @throws OperatorError `usage` for a name or a value that is none */
export function requireLimits(limits: LimitsInput = {}): void {
  const { error } = LimitsInput.safeParse(limits)
  const hint = `the limits are ${Object.keys(OF_SPEC).join(', ')}, each an integer from 1`
  if (error !== undefined) throw usageError(`limits.${firstProblem(error)}`, hint)
}

/** The limits of a world. */
export class WorldLimits {
  /** Those that were given, also with the specification's value, by name. */
  readonly given: Map<string, number>
  /** Every limit in force. */
  values: LimitValues = OF_SPEC

  constructor(given: Map<string, number>, limits: LimitsInput = {}) {
    this.given = given
    this.set(limits)
  }

  set(limits: LimitsInput): void {
    for (const [name, limit] of Object.entries(limits)) this.given.set(name, limit)
    this.values = { ...OF_SPEC, ...Object.fromEntries(this.given) }
  }
}
