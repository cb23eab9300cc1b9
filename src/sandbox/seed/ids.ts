import type { ReferenceKind } from '../control/fields.ts'

/** Ids of everybody and everything that a seed names. */
export class Names {
  readonly accounts = new Map<string, number>()
  readonly chats = new Map<string, number>()

  /** @throws Error when nobody is called that; a seed that was read names nobody else */
  account(name: string): number {
    return idOf(this.accounts, name)
  }

  chat(name: string): number {
    return idOf(this.chats, name)
  }

  /** `chat:NAME` with the id for the name; other scopes as they are. */
  scope(scope: string): string {
    const chat = /^chat:(.*)$/.exec(scope)?.[1]
    return chat === undefined ? scope : `chat:${this.chat(chat)}`
  }

  /** An operation's input with ids for names. */
  resolve(
    input: Record<string, unknown>,
    named: Map<string, ReferenceKind>,
  ): Record<string, unknown> {
    const resolved = { ...input }
    for (const [field, of] of named) {
      const value = input[field]
      if (Array.isArray(value)) resolved[field] = value.map((one) => this.#id(one, of))
      else if (value !== undefined) resolved[field] = this.#id(value, of)
    }
    return resolved
  }

  #id(name: unknown, of: ReferenceKind): unknown {
    if (typeof name !== 'string') return name
    if (of === 'chat') return this.chat(name)
    if (of === 'scope') return this.scope(name)
    if (of !== 'message') return this.account(name)
    const by = /^last by (.+)$/.exec(name)?.[1]
    return by === undefined ? name : `last by ${this.account(by)}`
  }
}

function idOf(ids: Map<string, number>, name: string): number {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`nothing is called ${name}`)
  return id
}
