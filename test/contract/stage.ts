import type { EndpointName } from '../../src/api/endpoints.ts'
import type { Client } from './client.ts'

/**
 * Before whom the cases are played. `direct`: the sandbox with an open bot. `protected`: through
 * the sidecar with a protected bot. `open`: through the sidecar with `key.publish: false`.
 * `live`: any base URL and token.
 */
export const WAYS = ['direct', 'protected', 'open', 'live'] as const
export type Way = (typeof WAYS)[number]

/** What the service says, and what the sidecar says instead where it differs by design. */
export type PerWay<T> = { service: T } & Partial<Record<Way, T>>

/** What a person's phone showed. */
export interface Shown {
  text: string
  /** `verified`: sealed to this phone and signed by the bot. `readable`: it came as words. */
  verdict: string
}

/** A person with a phone, which seals and opens as real ones do. */
export interface Person {
  readonly id: number
  readonly username: string
  /** Writes with the phone; gives the message's id. */
  write(chatId: number, text: string, o?: { replyTo?: number }): Promise<number>
  /** Sends a file with the phone, which seals it where the chat is encrypted. */
  send(
    chatId: number,
    file: Buffer,
    o?: { text?: string; replyTo?: number; durationMs?: number },
  ): Promise<void>
  /** Edits a message of their own; in an encrypted chat the phone seals it anew. */
  edit(chatId: number, messageId: number, text: string): Promise<void>
  /** Deletes a message of their own for everybody. */
  delete(chatId: number, messageId: number): Promise<void>
  /** Presses the button with that `callbackData`, or the first that has any; gives the press. */
  press(chatId: number, messageId: number, data?: string): Promise<string>
  leave(chatId: number): Promise<void>
  block(): Promise<void>
  unblock(): Promise<void>
  closeAccount(): Promise<void>
  rename(username: string): Promise<void>
  /** What the phone showed for a message, as it came or as it was last edited. */
  sees(chatId: number, messageId: number, as?: 'sent' | 'edited'): Promise<Shown>
  /** Whether the phone shows a chat's message now. */
  shows(chatId: number, messageId: number): Promise<boolean>
  /** Whether the phone shows now that the bot is typing. */
  showsTyping(chatId: number): Promise<boolean>
  /** What the phone showed in answer to a press. */
  sawAnswer(
    callbackId: string,
  ): Promise<{ text: string | null; alert: boolean; url: string | null }>
  /** Fingerprints that the phone learnt for the bot, oldest first; null: none any more. */
  learntKeys(): Promise<(string | null)[]>
  /** The commands that the phone offers for the bot in a chat. */
  commands(chatId: number): Promise<{ command: string; description: string }[]>
}

/** The bot's owner, in the console of the chat app. */
export interface Owner {
  pause(): Promise<void>
  resume(): Promise<void>
  setPrivacyMode(on: { on: boolean }): Promise<void>
  allowGroups(o: { allow: boolean }): Promise<void>
  removeKey(): Promise<void>
  setCommands(scope: string, commands: object[]): Promise<void>
  /** Issues a new token, which the bot does not have yet; gives it. */
  issueToken(): Promise<string>
  /** Gives the bot (and the sidecar before it) the token that was issued last. */
  handOverToken(): Promise<void>
  /** What the owner was told in the app. */
  notices(): Promise<string[]>
}

export interface RoomOptions {
  kind?: 'group' | 'channel'
  /** Whether its history is open; by default as in `group()`. */
  readable?: boolean
  title?: string
  username?: string
  description?: string
  slowModeSeconds?: number
  rosterHidden?: boolean
  adminsHidden?: boolean
  /** Beside alice, who owns it, and bob; the bot last. */
  members?: number[]
  /** False: the bot is not in it. */
  bot?: false
}

export interface MembershipOptions {
  status?: 'admin' | 'member' | 'restricted'
  /** The delete-messages right, for an administrator. */
  deletes?: boolean
  restrictedUntil?: number | null
  title?: string
}

/** A message as the service holds it. */
export interface Held {
  id: number
  fromId: number
  kind: string
  text: string | null
  armored: string | null
  replyTo: number | null
  markup: unknown
}

/** Another bot, always open and at the service itself. */
export interface OtherBot {
  id: number
  username: string
  client: Client
}

/** What a case is played on; each case finds it swept, its queue empty and its windows free. */
export interface Stage {
  readonly way: Way
  readonly me: { id: number; username: string }
  /** The bot under test. */
  readonly bot: Client
  /** The same bot at the service itself, past the sidecar. */
  readonly past: Client
  readonly alice: Person
  readonly bob: Person
  readonly owner: Owner
  /** The expectation for this way. */
  per<T>(expected: PerWay<T>): T
  /** Words that nobody said before. */
  words(): string

  /** Alice's private chat with the bot, or somebody else's. */
  privateChat(person?: Person): Promise<number>
  /** A group of alice, bob and the bot: readable, but encrypted in the way `protected`. */
  group(): Promise<number>
  room(o?: RoomOptions): Promise<number>
  changeRoom(chatId: number, o: { readable: boolean }): Promise<void>
  join(chatId: number, userId: number): Promise<void>
  setMembership(chatId: number, userId: number, o: MembershipOptions): Promise<void>
  /** Somebody new; without a phone nobody published a key. */
  person(o: { phone: boolean }): Promise<Person>
  /** @param o `listens`: its privacy mode is off; `key`: it published one */
  otherBot(o?: { listens?: boolean; key?: boolean }): Promise<OtherBot>
  /** Every message of a chat as the service holds it, oldest first. */
  held(chatId: number): Promise<Held[]>
  /** Something sealed and signed by alice, as a bot that does its own sealing would send. */
  sealed(): Promise<string>
  /** A key that phones can seal to, for a bot that does its own opening. */
  key(): Promise<{ publicKey: string; fingerprint: string }>
  /** Queues so many updates of a kind that nobody knows yet. */
  queue(count: number): Promise<void>
  /** The next call of an endpoint fails with `internal`. */
  breakNext(endpoint: EndpointName): Promise<void>

  now(): number
  /** Moves the clock forward; what falls due on the way happens at its time. */
  advance(ms: number): Promise<void>
  /** Waits until the service holds a poll of the bot's. */
  polling(): Promise<void>
}
