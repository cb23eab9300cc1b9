/** What the tests of seeds have in common. */
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'

export const AT = '2031-05-06T07:08:09Z'
export const AT_MS = Date.parse(AT)

/** A world with a stopped clock, so that nothing happens before `advance`. */
export function still(seed: SeedInput): Promise<Sandbox> {
  return createSandbox({ world: { clock: { at: AT, mode: 'still' }, ...seed } })
}

/** Of the sandbox's first bot, or another one. */
export const token = ({ bots }: Sandbox, index = 0): string => bots[index]?.token ?? ''

/** A person and a bot in a private chat. */
export const PAIR: SeedInput = {
  people: { alice: { key: 'none' } },
  bots: { echo_bot: {} },
  chats: { dm: { kind: 'private', person: 'alice', bot: 'echo_bot' } },
}

type History = NonNullable<NonNullable<SeedInput['chats']>[string]['history']>

/** Their chat with these messages in it. */
export const pairWith = (history: History): SeedInput => ({
  ...PAIR,
  chats: { dm: { kind: 'private', person: 'alice', bot: 'echo_bot', history } },
})

/** Texts of a chat, oldest first. */
export async function texts({ control, chats }: Sandbox, index = 0): Promise<(string | null)[]> {
  const messages = await control.messages({ chatId: chats[index]?.id ?? 0 })
  return messages.map(({ text, kind }) => (kind === 'user' ? text : kind))
}
