import type { ChatMode } from '../../api/chat.ts'
import type { BodyKind } from '../../api/error.ts'
import { textProblem } from '../../api/text.ts'
import { no } from '../failure.ts'
import { armorProblem } from './armor.ts'

/** What is written: exactly one of the two is not null. */
export interface Content {
  text: string | null
  armored: string | null
}

/**
 * Takes a body's two kinds and the chat's mode; gives the right one, checked, or null when there
 * is none at all. The wrong kind is refused even beside the right one.
 * @throws ServiceNo `wrong_body_kind` with `expected`, or `bad_request`
 */
export function readContent(
  body: { text?: string | undefined; armored?: string | undefined },
  mode: ChatMode,
): Content | null {
  const expected = expectedKind(mode)
  const wrong = expected === 'text' ? 'armored' : 'text'
  if (body[wrong] !== undefined) {
    throw no('wrong_body_kind', `this chat takes ${expected}`, { expected })
  }
  const value = body[expected]
  if (value === undefined) return null
  const problem = expected === 'text' ? textProblem(value) : armorProblem(value)
  if (problem !== null) throw no('bad_request', problem)
  return expected === 'text' ? { text: value, armored: null } : { text: null, armored: value }
}

/** Which kind of body a chat takes. */
export function expectedKind(mode: ChatMode): BodyKind {
  return mode === 'protected' ? 'armored' : 'text'
}
