/** What an operator can ask of a process that serves several bots, beside what each bot is asked. */
import { operationsOn, type Calls } from '../rpc/operation.ts'
import { nothing } from './operation.ts'
import type { BotsReport } from './reports.ts'

/** What became of the bots when the settings were read again, by their names. */
export interface BotChanges {
  added: string[]
  removed: string[]
  /** Started anew, since something in their settings is otherwise. */
  changed: string[]
}

/** What a reload found, and where. */
export interface BotReload extends BotChanges {
  /** Where each has a file, absolute; null where they are listed. */
  folder: string | null
}

/** What these operations work on. */
export interface SeveralParts {
  report: () => BotsReport
  /** @throws OperatorError `settings`: everything goes on as it was */
  reload: () => Promise<BotReload>
}

const operation = operationsOn<SeveralParts>()

/** Operations on all bots of a process. */
export const BOTS = {
  botList: operation('Which bots there are, and how each is.', nothing, ({ report }) => report()),
  botReload: operation(
    'Reads the settings again, and serves the bots that they name now.',
    nothing,
    ({ reload }) => reload(),
  ),
}

export type BotOperations = Calls<typeof BOTS>
