import { Conditions, type Condition } from './conditions.ts'

/**
 * What an operator should know although the sidecar does its whole job, with what to do about it. The
 * table in this folder's README is made from it.
 */
export const WARNINGS = {
  'updates-waiting': {
    what: 'updates wait at the service for a minute, or a hundred of them, and the bot does not take them',
    hint: 'see whether the bot runs and polls; `admin.updatesWaiting: unready` makes this a reason of `/readyz`',
  },
} as const satisfies Record<string, { what: string; hint: string }>

/** What is warned of. */
export type WarningCode = keyof typeof WARNINGS

/** Every warning there is, for gauges and documentation. */
export const WARNING_CODES = Object.keys(WARNINGS) as readonly WarningCode[]

/** One warning, for people. */
export type Warning = Condition<WarningCode>

/** What is warned of now; it keeps nothing from its job and leaves `/readyz` at 200. */
export class Warnings extends Conditions<WarningCode> {
  constructor() {
    super(WARNINGS)
  }
}
