import type { EndpointName } from '../../../src/api/endpoints.ts'
import type { ErrorCode } from '../../../src/api/error-codes.ts'
import type { FIXED_LIMITS, LIMITS } from '../../../src/api/limits.ts'
import { ENDPOINT_RULES } from './endpoints.ts'
import { OVERVIEW } from './overview.ts'
import { RESOURCES } from './resources.ts'
import { RULES } from './rules.ts'
import { STATES, type TRANSITIONS } from './states.ts'

/** The specification's sentences by heading, each under a name that cases refer to. */
export const SPEC = { ...OVERVIEW, ...RESOURCES, ...STATES, ...ENDPOINT_RULES, ...RULES } as const

type Spec = typeof SPEC

/** A heading of the specification. */
export type Section = keyof Spec

/** The name of a sentence. */
export type Statement = { [S in Section]: keyof Spec[S] }[Section]

/** A limit, by its name in `/me` or in the table of those that `/me` need not name. */
export type LimitName = keyof typeof LIMITS | keyof typeof FIXED_LIMITS

/** What a case proves: a sentence, or a row of one of the tables. */
export type Proof =
  | Statement
  | `endpoint ${EndpointName}`
  | `error ${ErrorCode}`
  | `limit ${LimitName}`
  | (typeof TRANSITIONS)[number]

/** Every sentence with its heading, in the order of the specification. */
export function sentences(): { section: Section; name: Statement; text: string }[] {
  return Object.entries(SPEC).flatMap(([section, named]) =>
    Object.entries(named).map(([name, text]) => ({
      section: section as Section,
      name: name as Statement,
      text,
    })),
  )
}
