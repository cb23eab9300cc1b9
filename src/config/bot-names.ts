/** How one of several bots is named, and what is said when none is, or a wrong one. */
import { OperatorError } from '../errors.ts'

/** A bot's name is that of its folder in `dataDir`, of a label and of a field in the log. */
export const BOT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

const MAX_LISTED = 20

/**
 * The refusal of a name that no bot has, or of none where there are several.
 * @param named null when none was named
 * @returns OperatorError `usage`
 */
export function whichBot(named: string | null, names: readonly string[]): OperatorError {
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : ''
  const list = names.length === 0 ? 'none yet' : names.slice(0, MAX_LISTED).join(', ') + more
  return new OperatorError(
    'usage',
    named === null ? 'there are several bots, and none is named' : 'there is no bot of that name',
    `name one with --bot: ${list}`,
  )
}

/**
 * The refusal of a name where there is only one bot, which has none.
 * @returns OperatorError `usage`
 */
export function onlyBot(): OperatorError {
  return new OperatorError(
    'usage',
    'there is one bot, which has no name',
    'leave --bot out; several bots are set by `bots`',
  )
}
