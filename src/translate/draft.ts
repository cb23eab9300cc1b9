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
 * Reads the parsed JSON body of `POST /messages`. A send without `sendId` gets one. A send without
 * a body is refused here unless the bot does its own sealing: the required body depends on the
 * chat.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export function readSend(json: unknown, rules: DraftRules): Draft {
  const parsed = OpenSendBody.safeParse(json)
  if (!parsed.success) {
    const extra = isObject(json) && ('text' in json || 'armored' in json) ? {} : EXPECTED
    throw new Refusal('bad_request', firstProblem(parsed.error), { extra })
  }
  const { text, armored, ...rest } = parsed.data
  refuseBody({ text, armored }, rules)
  if (text === undefined && armored === undefined && rules.sealsForBot)
    throw emptyDraft('send', 'text')
  const fields = { ...rest, chatId: parsed.data.chatId, sendId: parsed.data.sendId ?? randomUUID() }
  const target: PermitTarget = { route: 'send', path: '/messages', later: null }
  return draft(target, { text, armored, fields }, SEND_FIELDS)
}

/**
 * Reads the parsed JSON body of `PATCH /messages/{messageId}`; absent and null markup are distinct.
 * One without a change is refused here unless the bot does its own sealing.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export function readEdit(messageId: string, json: unknown, rules: DraftRules): Draft {
  const parsed = OpenEditBody.safeParse(json)
  if (!parsed.success) throw new Refusal('bad_request', firstProblem(parsed.error))
  const { text, armored, ...rest } = parsed.data
  refuseBody({ text, armored }, rules)
  if (text === undefined && armored === undefined && !('markup' in rest) && rules.sealsForBot) {
    throw emptyDraft('edit', 'text')
  }
  const fields = { ...rest, chatId: parsed.data.chatId }
  const path = `/messages/${encodeURIComponent(messageId)}`
  const target: PermitTarget = { route: 'edit', path, later: null }
  return draft(target, { text, armored, fields }, EDIT_FIELDS)
}

const EMPTY = { send: 'a message needs it', edit: 'an edit needs at least one change' }

/** Refuses a send or an edit of nothing; `expected` is the chat's kind of body (spec, Errors). */
export function emptyDraft(route: keyof typeof EMPTY, expected: 'text' | 'armored'): Refusal {
  return new Refusal('bad_request', `${expected}: ${EMPTY[route]}`, { extra: { expected } })
}

function draft(
  target: PermitTarget,
  parts: Pick<Draft, 'text' | 'armored' | 'fields'>,
  listed: ReadonlySet<string>,
): Draft {
  const unlisted = Object.keys(parts.fields).filter((name) => !listed.has(name))
  return { target, chatId: parts.fields.chatId, ...parts, unlisted }
}

function refuseBody({ text, armored }: Pick<Draft, 'text' | 'armored'>, rules: DraftRules): void {
  if (armored !== undefined && rules.sealsForBot) {
    throw new Refusal('wrong_body_kind', 'this chat takes text', { extra: EXPECTED })
  }
  if (text !== undefined && armored !== undefined) {
    throw new Refusal('bad_request', 'armored: give either text or armored')
  }
  const problem = text === undefined ? null : textProblem(text, rules.textMax)
  if (problem !== null) throw new Refusal('bad_request', problem)
}
