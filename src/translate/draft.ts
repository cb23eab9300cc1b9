/** Reads and checks a send or an edit of the bot (spec, POST /messages and PATCH /messages/{messageId}). */
import { randomUUID } from 'node:crypto'
import { firstProblem, isObject } from '../api/common.ts'
import { EDIT_FIELDS, OpenEditBody, OpenSendBody, SEND_FIELDS } from '../api/send.ts'
import { textProblem } from '../api/text.ts'
import { Refusal } from '../errors.ts'
import type { PermitTarget } from '../kernel/index.ts'

/** A send or an edit as it was validated; `fields` holds everything but `text` and `armored`. */
export interface Draft {
  target: PermitTarget
  chatId: number
  text: string | undefined
  /** Only from a bot that does its own sealing. */
  armored: string | undefined
  fields: { chatId: number; [name: string]: unknown }
  /** Fields that the spec does not list, for a readable chat alone. */
  unlisted: string[]
}

export interface DraftRules {
  textMax: number
  /** Whether the sidecar seals; then `armored` from the bot is the wrong kind, as in any open chat. */
  sealsForBot: boolean
}

/** In the bot's world every chat is readable. */
const EXPECTED = { expected: 'text' } as const

/**
 * Reads the parsed JSON body of `POST /messages`. A send without `sendId` gets one. A send without a
 * body is refused here unless the bot does its own sealing: the required body depends on the chat.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export function readSend(json: unknown, rules: DraftRules): Draft {
  const parsed = OpenSendBody.safeParse(json)
  if (!parsed.success) {
    const extra = isObject(json) && ('text' in json || 'armored' in json) ? {} : EXPECTED
    throw new Refusal('bad_request', firstProblem(parsed.error), { extra })
  }
  const body = { ...parsed.data, sendId: parsed.data.sendId ?? randomUUID() }
  return draftOf({ route: 'send', path: '/messages', later: null }, body, rules)
}

/**
 * Reads the parsed JSON body of `PATCH /messages/{messageId}`; absent and null markup are distinct.
 * One without a change is refused here unless the bot does its own sealing.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export function readEdit(messageId: string, json: unknown, rules: DraftRules): Draft {
  const parsed = OpenEditBody.safeParse(json)
  if (!parsed.success) throw new Refusal('bad_request', firstProblem(parsed.error))
  const path = `/messages/${encodeURIComponent(messageId)}`
  return draftOf({ route: 'edit', path, later: null }, parsed.data, rules)
}

const EMPTY = { send: 'a message needs it', edit: 'an edit needs at least one change' }

/** Refuses a send or an edit of nothing; `expected` is the chat's kind of body (spec, Errors). */
export const emptyDraft = (route: keyof typeof EMPTY, expected: 'text' | 'armored'): Refusal =>
  new Refusal('bad_request', `${expected}: ${EMPTY[route]}`, { extra: { expected } })

const LISTED = { send: SEND_FIELDS, edit: EDIT_FIELDS }

function draftOf(
  target: PermitTarget,
  { text, armored, ...fields }: Partial<Pick<Draft, 'text' | 'armored'>> & Draft['fields'],
  rules: DraftRules,
): Draft {
  if (armored !== undefined && rules.sealsForBot) {
    throw new Refusal('wrong_body_kind', 'this chat takes text', { extra: EXPECTED })
  }
  if (text !== undefined && armored !== undefined) {
    throw new Refusal('bad_request', 'armored: give either text or armored')
  }
  const problem = text === undefined ? null : textProblem(text, rules.textMax)
  if (problem !== null) throw new Refusal('bad_request', problem)
  const isEmpty = text === undefined && armored === undefined
  const changesMarkup = target.route === 'edit' && 'markup' in fields
  if (isEmpty && !changesMarkup && rules.sealsForBot) throw emptyDraft(target.route, 'text')
  const unlisted = Object.keys(fields).filter((name) => !LISTED[target.route].has(name))
  return { target, chatId: fields.chatId, text, armored, fields, unlisted }
}
