/** A memory of the wall's records without a store, in which a test plays the other sidecars. */
import { vi, type Mock } from 'vitest'
import type { Journal, TrustChange } from '../../../src/kernel/people/journal.ts'
import type {
  FollowedRecords,
  Keys,
  KnownChat,
  Memory,
  Records,
  Unwritten,
} from '../../../src/kernel/memory.ts'
import { Mutex } from '../../../src/util/scheduling.ts'

/** As long as a store takes at least. */
const later = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))

/** A chat as the store has it. */
export const chatOf = (id: number, more: Partial<KnownChat> = {}): KnownChat => ({
  id,
  kind: 'group',
  personId: null,
  latchedAtMs: null,
  refusedAtMs: null,
  ...more,
})

export interface PlayedMemory {
  memory: Memory
  /** The chats in the store, and what was saved with which options. */
  stored: Map<number, KnownChat>
  save: Mock<(chats: readonly KnownChat[], o?: object) => Promise<void>>
  touched: (readonly number[])[]
  settle: Mock<() => Promise<void>>
  presses: { id: string; chatId: number; seenAtMs: number }[]
  forgottenBefore: number[]
  clock: { nowMs: number }
  /** Another sidecar has written these chats. */
  wrote: (...chats: KnownChat[]) => Promise<void>
  /** Another sidecar has made private chats readable, or protected again. */
  wrotePrivateReadable: (sinceMs: number | null) => Promise<void>
  /** A journal, and what was appended and announced. */
  journal: Pick<Journal, 'append'>
  appended: TrustChange[]
  announce: ReturnType<typeof vi.fn>
}

/** @param o `isShared` with other sidecars; `chats` that are in the store from the start */
export function playedMemory(o: { isShared?: boolean; chats?: KnownChat[] } = {}): PlayedMemory {
  const stored = new Map((o.chats ?? []).map((chat) => [chat.id, chat]))
  const rereads = new Map<FollowedRecords, Parameters<Memory['keep']>[1]>()
  const unwritten: Unwritten[] = []
  const presses: PlayedMemory['presses'] = []
  const appended: TrustChange[] = []
  const announce = vi.fn()
  const clock = { nowMs: 1000 }
  let privateSinceMs: number | null = null
  const touched: (readonly number[])[] = []
  const forgottenBefore: number[] = []
  const save: PlayedMemory['save'] = vi.fn(async (chats) => {
    await later()
    for (const chat of chats) stored.set(chat.id, chat)
  })
  const records = {
    chats: {
      of: async (keys: Keys) => {
        await later()
        return [...stored.values()].filter(({ id }) => keys?.includes(String(id)) ?? true)
      },
      save,
      touch: async (chatIds: readonly number[]) => {
        await later()
        touched.push(chatIds)
      },
      isPrivateReadable: async () => {
        await later()
        return privateSinceMs !== null
      },
      setPrivateReadable: async (sinceMs: number | null) => {
        await later()
        privateSinceMs = sinceMs
      },
    },
    presses: {
      add: async (seen: { id: string; chatId: number }[], seenAtMs: number) => {
        await later()
        presses.push(...seen.map((one) => ({ ...one, seenAtMs })))
      },
      chatsOf: async (id: string, limit: number) => {
        await later()
        const chats = new Set(presses.filter((one) => one.id === id).map(({ chatId }) => chatId))
        return [...chats].slice(0, limit)
      },
      forgetBefore: async (seenAtMs: number) => {
        await later()
        forgottenBefore.push(seenAtMs)
      },
    },
  } as unknown as Records
  const order = new Mutex()
  const settleDue = async (): Promise<void> => {
    for (const one of unwritten) if (one.isDue()) (await one.save(records))()
  }
  const settle = vi.fn(() => order.run(settleDue))
  const memory: Partial<Memory> = {
    isShared: o.isShared ?? true,
    nowMs: () => clock.nowMs,
    read: (query) => query(records),
    write: async (change, onWritten) => {
      await settle()
      const result = await change(records)
      onWritten?.(result)
      return result
    },
    note: (change) => change(records),
    settle,
    fresh: () => Promise.resolve(),
    writeFirst: (one) => void unwritten.push(one),
    keep: async (kind, read) => {
      rereads.set(kind, read)
      await read(records, null)
    },
  }
  return {
    memory: memory as Memory,
    stored,
    save,
    touched,
    settle,
    presses,
    forgottenBefore,
    clock,
    wrote: async (...chats) => {
      for (const chat of chats) stored.set(chat.id, chat)
      const keys = chats.map(({ id }) => String(id))
      await rereads.get('chats')?.(records, keys)
    },
    wrotePrivateReadable: async (sinceMs) => {
      privateSinceMs = sinceMs
      await rereads.get('flags')?.(records, ['private'])
    },
    journal: {
      append: async (_records, changes) => {
        await later()
        appended.push(...changes)
        return announce
      },
    },
    appended,
    announce,
  }
}
