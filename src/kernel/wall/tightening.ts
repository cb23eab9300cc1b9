/** How a sighting changes a known chat: values in, values out. */
import type { KnownChat } from '../memory.ts'

export interface ChatSighting {
  chatId: number
  kind?: string
  /** By the chat's own mode, or by the service's refusal of readable text. */
  isProtected?: boolean
  /** The person of the chat; counts for a private chat alone. */
  userId?: number
}

export const unseen = (id: number): KnownChat => ({
  id,
  kind: 'unknown',
  personId: null,
  latchedAtMs: null,
  refusedAtMs: null,
})

/**
 * A known chat after a sighting: a private chat stays private, a group becomes nothing but private, a
 * latch stays, and the first person of a private chat is its person.
 * @returns `known` itself where the sighting changes nothing
 */
export function tighten(known: KnownChat, seen: ChatSighting, nowMs: number): KnownChat {
  const kind = stricterKind(known.kind, seen.kind)
  const latchedAtMs = known.latchedAtMs ?? (seen.isProtected === true ? nowMs : null)
  const personId = known.personId ?? (kind === 'private' ? (seen.userId ?? null) : null)
  const isSame =
    kind === known.kind && latchedAtMs === known.latchedAtMs && personId === known.personId
  return isSame ? known : { ...known, kind, latchedAtMs, personId }
}

/** Two sightings of a chat in one; the person counts where `isPrivate`. */
export function join(
  before: ChatSighting | undefined,
  seen: ChatSighting,
  isPrivate: boolean,
): ChatSighting {
  const { chatId } = seen
  const kind = before?.kind === undefined ? seen.kind : stricterKind(before.kind, seen.kind)
  const userId = before?.userId ?? (isPrivate ? seen.userId : undefined)
  return {
    chatId,
    ...(kind !== undefined && { kind }),
    isProtected: before?.isProtected === true || seen.isProtected === true,
    ...(userId !== undefined && { userId }),
  }
}

function stricterKind(known: string, claimed = known): string {
  for (const kind of ['private', 'group']) if (known === kind || claimed === kind) return kind
  return claimed
}
