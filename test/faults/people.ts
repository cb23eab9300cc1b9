/** People with phones who write into every chat, and somebody who writes what cannot be opened. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../src/sandbox/create.ts'
import type { Random } from '../support/faults-random.ts'
import type { History } from './history.ts'
import { brew } from './poison.ts'

/** Where people meet the bot. */
export interface Chats {
  aliceWithBot: number
  bobWithBot: number
  encryptedGroup: number
  readableGroup: number
  /** A group whose history is open until it is not. */
  turningGroup: number
}

export class People {
  readonly chats: Chats
  /** Canaries of what phones sealed. */
  readonly sealedCanaries = new Set<string>()
  readonly #sandbox: Sandbox
  readonly #history: History
  readonly #random: Random

  private constructor(sandbox: Sandbox, chats: Chats, o: { history: History; random: Random }) {
    this.#sandbox = sandbox
    this.chats = chats
    this.#history = o.history
    this.#random = o.random
  }

  /** Gives everybody a phone and makes the chats. */
  static async settle(sandbox: Sandbox, o: { history: History; random: Random }): Promise<People> {
    const { alice, bob, bot, privateChat, encryptedGroup, readableGroup } = sandbox.home
    const { control } = sandbox
    const bobs = await control.addPrivateChat({ userId: bob.id, botId: bot.id })
    const turning = await control.addRoom({
      kind: 'group',
      members: [alice.id, bob.id, bot.id],
      historyVisible: true,
    })
    for (const { id } of [alice, bob]) await sandbox.phone(id)
    const chats: Chats = {
      aliceWithBot: privateChat,
      bobWithBot: bobs.id,
      encryptedGroup,
      readableGroup,
      turningGroup: turning.id,
    }
    return new People(sandbox, chats, o)
  }

  /** Writes one message by chance, now and then a poisonous one. */
  async writeSomething(): Promise<void> {
    const random = this.#random
    const { alice, bob } = this.#sandbox.home
    const { aliceWithBot, bobWithBot, ...groups } = this.chats
    const person = random.pick([alice.id, bob.id])
    const own = person === alice.id ? aliceWithBot : bobWithBot
    const chatId = random.oneIn(2) ? own : random.pick(Object.values(groups))
    if (random.oneIn(6)) await this.writePoison(person, chatId)
    else await this.write(person, chatId)
  }

  /** Writes a message that is for the bot, as the person's phone does. */
  async write(userId: number, chatId: number): Promise<string> {
    const canary = `kp${this.#random.hex(16)}`
    const phone = await this.#sandbox.phone(userId)
    const atMs = Date.now()
    this.sealedCanaries.add(canary)
    const messageId = await phone.write(chatId, `/say ${canary}`)
    const sealed = await this.#isSealed(chatId, messageId)
    if (!sealed) this.sealedCanaries.delete(canary)
    this.#history.written.push({ atMs, chatId, messageId, userId, canary, sealed, poison: null })
    return canary
  }

  async writePoison(userId: number, chatId: number): Promise<void> {
    const certificate = this.#certificate()
    if (certificate === null) return
    const { name, armored } = await brew(this.#random, certificate)
    const atMs = Date.now()
    const addressed = [this.#sandbox.home.bot.id]
    const posted = { userId, chatId, armored, addressed }
    const { messageId } = await this.#sandbox.control.post(posted)
    const { aliceWithBot, bobWithBot, encryptedGroup } = this.chats
    // in a readable group it is somebody's words, and delivered as such
    const sealed = [aliceWithBot, bobWithBot, encryptedGroup].includes(chatId)
    const about = { atMs, chatId, messageId, userId, canary: '', sealed }
    this.#history.written.push({ ...about, poison: name })
  }

  /** Writes until the signal says that it is enough. */
  async writeAlong(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.writeSomething()
      const waitMs = this.#random.between(30, 150)
      await pause(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** The certificate that the bot published last; null before the first. */
  #certificate(): string | null {
    const puts = this.#sandbox.transcript
      .list()
      .filter(
        ({ method, path, status }) => method === 'PUT' && path.endsWith('/key') && status === 200,
      )
    const body = puts.at(-1)?.body
    return body === undefined ? null : (JSON.parse(body) as { publicKey: string }).publicKey
  }

  async #isSealed(chatId: number, messageId: number): Promise<boolean> {
    const messages = await this.#sandbox.control.messages({ chatId })
    return messages.find(({ id }) => id === messageId)?.armored != null
  }
}
