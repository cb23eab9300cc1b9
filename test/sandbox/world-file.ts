import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'world-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A copy of the file as a kill of the process would leave it now. */
export function copyAsLeftByKill(file: string): string {
  const copy = join(temporaryFolder(), 'left.world')
  for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  return copy
}

/** Everything that the control shows of a world, to compare it with another. */
export async function observableState({ control, bots, people, transcript }: Sandbox) {
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
      (await control.chats()).map(async (chat) => ({
        ...chat,
        messages: await control.messages({ chatId: chat.id }),
      })),
    ),
    transcript: transcript.list(),
  }
}
