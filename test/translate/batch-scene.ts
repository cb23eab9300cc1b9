/** Batches of updates, whose chats and openings a test plays. */
import { vi } from 'vitest'
import { Batches, type BatchTimes } from '../../src/translate/batch.ts'
import type { FoundMessage } from '../../src/kernel/opening/find-messages.ts'
import { found, known, partsOf } from '../kernel/opening/examine-scene.ts'

export const DAMAGED = { outcome: 'damaged' }
export const SHORT: BatchTimes = {
  budgetMs: 40,
  firstMs: 80,
  busyMs: 1000,
  failedMs: 0,
  othersMs: 0,
}
export const never = new Promise<never>(() => {})

/** Batches of a protected chat; `open` gives what comes of an armored message. */
export function scene(open: (armored: string) => Promise<object>, times: BatchTimes = SHORT) {
  const opening = vi.fn((armored: string, _keys?: unknown, _signal?: AbortSignal) => open(armored))
  const all = { ...known(), open: opening }
  return { opening, all, batches: new Batches(partsOf(all), times) }
}

/** One whose chat is readable, by what the service says when it is asked. */
export function asking(mode: () => Promise<string>, times: BatchTimes = SHORT) {
  const none = { protectedChats: new Set<number>(), privateChats: new Set<number>() }
  const all = { ...known(), ...none, mode: vi.fn(mode) }
  return { all, batches: new Batches(partsOf(all), times) }
}

export const sealed = (armored: string): FoundMessage[] => [found({ armored })]
export const words = (text: string): FoundMessage[] => [found({ text })]
export const findings = (judged: Awaited<ReturnType<Batches['examine']>>) =>
  judged.map((ones) => ones.map(({ finding }) => finding))
export const damaged = (reason?: string) => ({
  kind: 'closed',
  verdict: 'damaged',
  ...(reason !== undefined && { reason }),
})
