/** The end of a run: after everything has healed, what waited gets through and every chat works. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Bot } from './bot.ts'
import type { History } from './history.ts'
import type { People } from './people.ts'
import type { Service } from './service.ts'

const LOOK_MS = 50

/**
 * Has a message written into every chat, and waits until the bot heard all of them and all its
 * sends were answered. Notes a breach when that is not so by `untilMs` (of `performance.now`).
 */
export async function untilHeard(
  o: { service: Service; people: People; bot: Bot; history: History },
  untilMs: number,
): Promise<void> {
  const { service, people, bot, history } = o
  // failures of the bot's webhook go on, and the waits for them are its own
  const startedMs = performance.now() - bot.waitsMs
  const last = await writeEverywhere(service, people)
  const missing = () => {
    const heard = new Set(history.handled.map(({ text }) => text?.slice('/say '.length)))
    return last.filter((canary) => !heard.has(canary)).length
  }
  while (performance.now() < untilMs) {
    if (missing() === 0) history.heardAfterMs ??= performance.now() - bot.waitsMs - startedMs
    if (missing() === 0 && bot.waiting === 0) return
    await pause(LOOK_MS)
  }
  history.breaches.push(
    `I6: after everything had healed, ${missing()} messages were not heard and ${bot.waiting} sends not answered (${lastRefusals(history)})`,
  )
}

/** The canaries of one message of everybody in each of their chats. */
async function writeEverywhere({ home }: Service, people: People): Promise<string[]> {
  const { alice, bob } = home
  const { aliceWithBot, bobWithBot, ...groups } = people.chats
  const canaries = []
  for (const chatId of [aliceWithBot, ...Object.values(groups)])
    canaries.push(await people.surelyWrite(alice.id, chatId))
  for (const chatId of [bobWithBot, ...Object.values(groups)])
    canaries.push(await people.surelyWrite(bob.id, chatId))
  return canaries
}

function lastRefusals(history: History): string {
  const open = [...history.said.values()].filter(({ accepted }) => accepted.length === 0)
  return [...new Set(open.map(({ lastRefusal }) => lastRefusal ?? 'no answer'))].join(', ')
}
