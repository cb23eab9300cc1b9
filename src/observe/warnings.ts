import { Conditions, type Condition } from './conditions.ts'

/**
 * Conditions that an operator should know of although messages flow, with what to do about them.
 * The table in this folder's README is made from it.
 */
export const WARNINGS = {
  'updates-waiting': {
    what: 'updates wait at the service for a minute, or a hundred of them, and the bot does not take them',
    hint: 'see whether the bot runs and polls, and whether the log says that they are left there; `admin.updatesWaiting: unready` makes this a reason of `/readyz`',
  },
  'key-ending': {
    what: 'the bot’s key ends within 30 days, and nothing is sealed to it from then on',
    hint: '`postern key rotate` makes a key that does not end; the old one still opens',
  },
  'authority-ending': {
    what: 'a certificate in `upstream.caFile` ends within 30 days, and calls may fail from then on',
    hint: 'put the service’s new authority into the file, beside the old one, and restart Postern; take the old one out once the service uses the new',
  },
  'needed-key-ending': {
    what: 'an old key of the bot stops opening within 30 days, and opened a message in the last three',
    hint: 'see `postern key list`; a phone still seals to it, or set `key.retainDays` higher',
  },
  'rows-forged': {
    what: 'rows of the store have no MAC of it: somebody else wrote them, and they count as none',
    hint: 'see the log; limit who may write the database, decide anew by command',
  },
  'disk-filling': {
    what: 'the disk of `dataDir` is nearly full',
    hint: 'free some: what cannot be recorded is neither sealed nor opened',
  },
  'memory-filling': {
    what: 'the process uses more than nine tenths of the memory that it may have',
    hint: 'give it more, or see in the metrics what it does; it is killed when nothing is left',
  },
} as const satisfies Record<string, { what: string; hint: string }>

/** Code of a warning. */
export type WarningCode = keyof typeof WARNINGS

/** Every warning there is, for gauges and documentation. */
export const WARNING_CODES = Object.keys(WARNINGS) as readonly WarningCode[]

/** One warning, for people. */
export type Warning = Condition<WarningCode>

/** The current warnings, which do not affect messages and leave `/readyz` at 200. */
export const createWarnings = (): Conditions<WarningCode> => new Conditions(WARNINGS)
export type Warnings = ReturnType<typeof createWarnings>
