import type { ChatMode } from '../../api/chat.ts'
import { firstProblem } from '../../api/common.ts'
import type { BodyKind } from '../../api/envelope.ts'
import { markupOf, type Markup } from '../../api/buttons.ts'
import { textProblem } from '../../api/text.ts'
import { apiError } from '../api-error.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'

const ARMORED_MESSAGE =
  /^-----BEGIN PGP MESSAGE-----\r?\n(?:[A-Za-z]+: .*\r?\n)*[ \t]*\r?\n((?:[A-Za-z0-9+/]+={0,2}[ \t]*\r?\n)+)(?:=[A-Za-z0-9+/]{4}\r?\n)?-----END PGP MESSAGE-----\s*$/

/** The content of a message: exactly one of the two is not null. */
export type MessageContent = Record<'text' | 'armored', string | null>

/**
 * Checks the content of a request body against the chat's mode. Gives null when the body has
 * neither kind. The wrong kind is refused even beside the right one.
 * @throws SandboxApiError `wrong_body_kind` with `expected`, or `bad_request`
 */
export function readContent(
  { limits }: World,
  body: { text?: string | undefined; armored?: string | undefined },
  mode: ChatMode,
): MessageContent | null {
  const expected = expectedKind(mode)
  const wrong = expected === 'text' ? 'armored' : 'text'
  if (body[wrong] !== undefined) {
    throw apiError('wrong_body_kind', `this chat takes ${expected}`, { expected })
  }
  const value = body[expected]
  if (value === undefined) return null
  const { textMax, armoredMax } = limits.values
  const problem =
    expected === 'text' ? textProblem(value, textMax) : armorProblem(value, armoredMax)
  if (problem !== null) throw apiError('bad_request', problem)
  return expected === 'text' ? { text: value, armored: null } : { text: null, armored: value }
}

/** The kind of body that a chat accepts. */
export const expectedKind = (mode: ChatMode): BodyKind =>
  mode === 'protected' ? 'armored' : 'text'

/** The problem of the armor of an `armored` body, or null. Nothing is decrypted. */
function armorProblem(armored: string, max: number): string | null {
  if (armored.length > max) return `armored: must be at most ${max} characters`
  const base64 = ARMORED_MESSAGE.exec(armored.trimStart())?.[1]
  if (base64 === undefined) return 'armored: must be an ASCII-armoured OpenPGP message'
  const first = Buffer.from(base64.slice(0, 4), 'base64')[0] ?? 0
  return (first & 0x80) === 0 ? 'armored: must hold OpenPGP packets' : null
}

/** @param markup as received, neither absent nor null. @throws SandboxApiError `bad_markup` */
export function readMarkup({ limits }: World, markup: unknown): Markup {
  const parsed = markupOf(limits.values).safeParse(markup)
  if (!parsed.success) throw apiError('bad_markup', `markup: ${firstProblem(parsed.error)}`)
  return parsed.data
}

const COMMAND = /^\/[a-z0-9_]{1,32}(?:@([a-z0-9_]{3,32}))?(?=\s|$)/i

/**
 * Whether a text is addressed to a bot (spec, What the service does, 6): it begins with a command
 * that names the bot or no bot, or mentions it. Replies are not considered here. The service
 * applies this in readable groups, the sender's phone in encrypted ones.
 */
export function isAddressed(text: string, bot: Pick<BotState, 'username'>): boolean {
  const username = bot.username.toLowerCase()
  const command = COMMAND.exec(text.trim())
  if (command !== null && (command[1] ?? username).toLowerCase() === username) return true
  const mentions = text.toLowerCase().matchAll(/(?<![a-z0-9_@/])@([a-z0-9_]{3,32})(?![a-z0-9_])/g)
  return [...mentions].some((mention) => mention[1] === username)
}
