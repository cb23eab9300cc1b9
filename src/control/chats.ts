/** The operations of a sidecar, over its parts. */
import type { Facts } from '../chats/facts.ts'
import type { Modes } from '../chats/modes.ts'
import type { ExplainOperations } from './explain.ts'
import type { TrustOperations } from './trust.ts'
import { backupOperations, type BackupParts } from './perform-backups.ts'
import { keyOperations, type KeyParts } from './perform-keys.ts'
import { rotationOperations } from './perform-rotation.ts'
import { secretOperations, type SecretParts } from './perform-secrets.ts'
import type { ChatRow, Lift, OpenReport, Operations, StatusReport } from './operations.ts'

export interface PerformParts extends KeyParts, SecretParts, BackupParts {
  trust: TrustOperations
  explain: ExplainOperations
  modes: Modes
  status: () => Promise<StatusReport>
  open: (armored: string) => Promise<OpenReport>
}

/** Makes the operations that commands ask for, by socket or in their own process. */
export function createOperations(parts: PerformParts): Operations {
  const { facts, modes } = parts
  return {
    ...parts.trust,
    ...parts.explain,
    status: parts.status,
    open: parts.open,
    ...keyOperations(parts),
    ...rotationOperations(parts),
    ...secretOperations(parts),
    ...backupOperations(parts),
    chatList: () => Promise.resolve(facts.all.map((chat) => chatRow(chat, modes))),
    chatAllowReadable: async (lift) => await allowReadable(lift, parts),
  }
}

async function allowReadable(
  lift: Lift,
  { facts, modes, publication }: PerformParts,
): Promise<{ lifted: number[]; message: string }> {
  const chatIds = chosen(lift, facts)
  const lifted =
    'private' in lift
      ? await facts.setPrivateReadable({ readable: true })
      : await facts.lift(chatIds)
  for (const chatId of lifted) modes.forget(chatId)
  const isShown = publication?.state === 'published'
  return { lifted, message: messageFor(lift, { count: lifted.length, isShown }) }
}

function chosen(lift: Lift, facts: Facts): number[] {
  if ('chatIds' in lift) return lift.chatIds
  if ('private' in lift) return []
  return facts.all.flatMap(({ id, refusedAtMs }) => (refusedAtMs === null ? [] : [id]))
}

/** @param o `isShown`: the service still shows our key, so private chats stay encrypted */
function messageFor(lift: Lift, { count, isShown }: { count: number; isShown: boolean }): string {
  if ('private' in lift) {
    return isShown
      ? 'noted; the service still shows our key, so private chats stay encrypted until the owner removes it'
      : 'private chats may be readable again, where the service says that they are'
  }
  if (count === 0) return 'no chat had to be lifted'
  return `${count === 1 ? 'one chat' : `${count} chats`} lifted; the next sign of protection latches again`
}

function chatRow(chat: ReturnType<Facts['get']> & {}, modes: Modes): ChatRow {
  return {
    id: chat.id,
    kind: chat.kind,
    mode: modes.peek(chat.id, 0)?.mode ?? null,
    latched: chat.latchedAtMs !== null,
    refused: chat.refusedAtMs !== null,
  }
}
