/** Bots of a sandbox that one process serves, and what they send. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { callAt, type BotCall } from '../support/bot-call.ts'
import type { Process } from './processes.ts'

export interface BenchBot {
  token: string
  /** A private chat of its own. */
  chatId: number
}

/** An update, as far as benches read it. */
export interface Update {
  updateId: number
  message?: { text?: string; postern?: { verdict: string } }
}

let added = 0

/** Makes so many, with a file of settings each. */
export async function addBots(
  sandbox: Sandbox,
  count: number,
  folder: string,
): Promise<BenchBot[]> {
  const bots: BenchBot[] = []
  for (let n = 0; n < count; n++) {
    const bot = await addBot(sandbox)
    writeFileSync(join(folder, `bench-${n}.yaml`), `token: ${bot.token}\n`, { mode: 0o600 })
    bots.push(bot)
  }
  return bots
}

/** Makes one. */
export async function addBot(sandbox: Sandbox): Promise<BenchBot> {
  const { alice } = sandbox.home
  await sandbox.phone(alice.id)
  const { id, token } = await sandbox.control.addBot({ username: `bench_${added++}_bot` })
  const chat = await sandbox.control.addPrivateChat({ userId: alice.id, botId: id })
  return { token, chatId: chat.id }
}

export const bodyOf = (chatId: number): string => JSON.stringify({ chatId, text: 'x'.repeat(400) })

/** Sends into the bot's chat. @returns 201, or 503, by which a flood is told to come back later */
export async function send(
  { url }: Process,
  { token, chatId }: BenchBot,
  userAgent = 'postern-bench',
): Promise<number> {
  const headers = { 'user-agent': userAgent }
  const call = { method: 'POST', path: '/messages', headers, body: bodyOf(chatId) }
  const { status } = await callAt(url, token, call)
  if (status !== 201 && status !== 503) throw new Error(`a send was answered with ${status}`)
  return status
}

/** A call of the bot. @returns its result @throws Error for an answer that is no success */
export async function callOf(
  { url }: Pick<Process, 'url'>,
  { token }: Pick<BenchBot, 'token'>,
  call: BotCall,
): Promise<unknown> {
  const { json } = await callAt(url, token, call)
  if (json.ok !== true) throw new Error(`${call.method} ${call.path}: ${JSON.stringify(json)}`)
  return json.result
}
