import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'

/** A folder of its own for a test, gone when it is over. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'world-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** What the death of the process would leave behind at this moment. */
export function copyAsLeftByKill(file: string): string {
  const copy = join(temporaryFolder(), 'left.world')
  for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  return copy
}

/** Everything that can be asked of a world from outside, to compare it with another. */
export async function observableState({ control, bots, people, chats, transcript }: Sandbox) {
  return {
    bots: await Promise.all(
      bots.map(async (bot) => ({
        ...bot,
        ...(await control.bot({ botId: bot.id })),
        queued: await control.queued({ botId: bot.id }),
      })),
    ),
    people,
    chats: await Promise.all(
      chats.map(async (chat) => ({
        ...chat,
        messages: await control.messages({ chatId: chat.id }),
      })),
    ),
    transcript: transcript.list(),
  }
}
