/** What an observation changes of what is known of a chat: values in, values out. */
import type { KnownChat } from '../memory.ts'

/** What the service said of a chat. */
export interface ChatSighting {
  chatId: number
  kind?: string
  /** By the chat's own mode, or by the service's refusal of readable text. */
  isProtected?: boolean
  /** Whom it shows the chat to be with; counts for a private chat alone. */
  userId?: number
}

/** A chat of which nothing is known. */
export function unseen(id: number): KnownChat {
  return { id, kind: 'unknown', personId: null, latchedAtMs: null, refusedAtMs: null }
}

/**
 * A known chat after a sighting: once private it stays private, once a group it is a group or
 * private, once protected it stays latched, and the first person of a private chat is its person.
 * @returns `known` itself where the sighting says nothing new
 */
export function tighten(known: KnownChat, seen: ChatSighting, nowMs: number): KnownChat {
  const kind = stricterKind(known.kind, seen.kind)
  const latchedAtMs = known.latchedAtMs ?? (seen.isProtected === true ? nowMs : null)
  const personId = known.personId ?? (kind === 'private' ? (seen.userId ?? null) : null)
  const isSame =
    kind === known.kind && latchedAtMs === known.latchedAtMs && personId === known.personId
  return isSame ? known : { ...known, kind, latchedAtMs, personId }
}

/** Both sightings of a chat in one; the person counts where `isPrivate`. */
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

/** The kind of a chat that was known as one kind and is now claimed to be another. */
function stricterKind(known: string, claimed = known): string {
  for (const kind of ['private', 'group']) if (known === kind || claimed === kind) return kind
  return claimed
}
