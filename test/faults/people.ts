/** People with phones who write into every chat, and somebody who writes what cannot be opened. */
import { setTimeout as pause } from 'node:timers/promises'
import { ControlError } from '../../src/sandbox/control/operation.ts'
import type { Random } from '../support/faults-random.ts'
import type { History, Written } from './history.ts'
import { brew } from './poison.ts'
import type { Service } from './service.ts'

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
  readonly #service: Service
  readonly #history: History
  readonly #random: Random

  private constructor(service: Service, chats: Chats, o: { history: History; random: Random }) {
    this.#service = service
    this.chats = chats
    this.#history = o.history
    this.#random = o.random
  }

  /** Gives everybody a phone and makes the chats. */
  static async settle(service: Service, o: { history: History; random: Random }): Promise<People> {
    const {
      alice,
      bob,
      bot,
      privateChat: aliceWithBot,
      encryptedGroup,
      readableGroup,
    } = service.home
    const { control } = service
    const bobs = { userId: bob.id, botId: bot.id }
    const { id: bobWithBot } = await control.addPrivateChat(bobs)
    const members = [alice.id, bob.id, bot.id]
    const turning = { kind: 'group', members, historyVisible: true } as const
    const { id: turningGroup } = await control.addRoom(turning)
    for (const { id } of [alice, bob]) await control.givePhone({ userId: id })
    const chats = { aliceWithBot, bobWithBot, encryptedGroup, readableGroup, turningGroup }
    return new People(service, chats, o)
  }

  /** Writes one message by chance, now and then a poisonous one. */
  async writeSomething(): Promise<void> {
    const random = this.#random
    const { alice, bob } = this.#service.home
    const { aliceWithBot, bobWithBot, ...groups } = this.chats
    const person = random.pick([alice.id, bob.id])
    const own = person === alice.id ? aliceWithBot : bobWithBot
    const chatId = random.oneIn(2) ? own : random.pick(Object.values(groups))
    if (random.oneIn(6)) await this.writePoison(person, chatId)
    else if (random.oneIn(10)) await this.copy()
    else await this.write(person, chatId, random.oneIn(8) ? random.between(1, 3000) : 0)
  }

  /**
   * Writes a message that is for the bot, as the person's phone does. Gives its canary; null when
   * nobody answered, so that nobody knows whether it was written.
   */
  async write(userId: number, chatId: number, fileBytes = 0): Promise<string | null> {
    const canary = `kp${this.#random.hex(16)}`
    const atMs = Date.now()
    const { control } = this.#service
    const text = `/say ${canary}`
    const file = Buffer.from(this.#random.hex(2 * fileBytes), 'hex')
    const written = await orNull<{ messageId: number }>(
      fileBytes === 0
        ? control.write({ userId, chatId, text })
        : control.sendMedia({ userId, chatId, text, base64: file.toString('base64') }),
    )
    if (written === null) return null
    const { messageId } = written
    const sealed = (await this.#sealedAs(chatId, messageId)) !== null
    const about = { atMs, chatId, messageId, userId, canary, sealed, poison: null }
    this.#history.written.push(fileBytes === 0 ? about : { ...about, file })
    return canary
  }

  /** Somebody writes the sealed bytes of an earlier message of theirs once more. */
  async copy(): Promise<void> {
    const known = this.#history.written.filter(
      ({ sealed, poison, file }) => sealed && poison === null && file === undefined,
    )
    if (known.length === 0) return
    const { userId, chatId, messageId, canary } = this.#random.pick(known)
    const armored = await this.#sealedAs(chatId, messageId)
    if (armored === null) return
    const about = { userId, chatId, canary: '', sealed: true, poison: 'copy', copyOf: canary }
    await this.#post(armored, about)
  }

  /** Writes until it is known to be written. */
  async surelyWrite(userId: number, chatId: number): Promise<string> {
    for (;;) {
      const canary = await this.write(userId, chatId)
      if (canary !== null) return canary
      await pause(50)
    }
  }

  async writePoison(userId: number, chatId: number): Promise<void> {
    const { bot } = this.#service.home
    const { key } = await this.#service.surely((control) => control.bot({ botId: bot.id }))
    if (key === null) return
    const { name: poison, armored } = await brew(this.#random, key.publicKey)
    const { aliceWithBot, bobWithBot, encryptedGroup } = this.chats
    // in a readable group it is somebody's words, and delivered as such
    const sealed = [aliceWithBot, bobWithBot, encryptedGroup].includes(chatId)
    await this.#post(armored, { userId, chatId, canary: '', sealed, poison })
  }

  async #post(armored: string, about: Omit<Written, 'atMs' | 'messageId'>): Promise<void> {
    const { home, control } = this.#service
    const { userId, chatId } = about
    const atMs = Date.now()
    const posted = { userId, chatId, armored, addressed: [home.bot.id] }
    const written = await orNull(control.post(posted))
    if (written === null) return
    this.#history.written.push({ ...about, atMs, messageId: written.messageId })
  }

  /** Writes until the signal says that it is enough. */
  async writeAlong(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.writeSomething()
      const waitMs = this.#random.between(30, 150)
      await pause(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  async #sealedAs(chatId: number, messageId: number): Promise<string | null> {
    const place = { chatId, after: messageId - 1 }
    const [message] = await this.#service.surely((control) => control.messages(place))
    return message?.armored ?? null
  }
}

/** What came of one try; null when nobody answered. */
export async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ControlError) throw error
    return null
  }
}
