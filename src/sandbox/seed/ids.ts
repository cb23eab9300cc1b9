import type { z } from 'zod'
import { replaceReferences } from './walk.ts'

/** The ids of accounts and chats, by the names that a seed gives them. */
export class SeedIds {
  readonly accounts = new Map<string, number>()
  readonly chats = new Map<string, number>()

  /** @throws Error when there is no such name, which a checked seed does not contain */
  account(name: string): number {
    return idOf(this.accounts, name)
  }

  /** @throws Error as `account` does */
  chat(name: string): number {
    return idOf(this.chats, name)
  }

  /** Gives `chat:ID` for `chat:NAME`; other scopes as they are. */
  scope(scope: string): string {
    const chat = /^chat:(.*)$/.exec(scope)?.[1]
    return chat === undefined ? scope : `chat:${this.chat(chat)}`
  }

  /** Replaces the names in the input of an operation by ids. @param schema of the input */
  resolve(schema: z.ZodType, input: Record<string, unknown>): Record<string, unknown> {
    return replaceReferences(schema, input, ({ kind, name }) => {
      if (kind === 'chat') return this.chat(name)
      if (kind === 'scope') return this.scope(name)
      if (kind !== 'message') return this.account(name)
      const author = /^last by (.+)$/.exec(name)?.[1]
      return author === undefined ? name : `last by ${this.account(author)}`
    })
  }
}

function idOf(ids: Map<string, number>, name: string): number {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`nothing is called ${name}`)
  return id
}
