/** A sidecar whose operator decides about people, and what people write under that. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import type { Operations } from '../../src/operators/operations.ts'
import type { TrustPolicy } from '../../src/kernel/index.ts'
import { arrives, expectRefused } from '../support/double-sends.ts'
import { Stage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

/** Its files have some thirty phones, each with an agent to end: on a busy machine that takes long. */
const HOOK_MS = 300_000

/**
 * A stage that asks for each key list anew, and has no policy by command before each test.
 * @param env more settings
 */
export function useTrustStage(env: Record<string, string> = {}) {
  const stage = new Stage()
  beforeAll(() => stage.begin({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0', ...env } }), HOOK_MS)
  afterAll(() => stage.end(), HOOK_MS)

  /** Asks the running sidecar as the commands do, without a process for each. */
  async function ask<R>(run: (operations: Operations) => Promise<R>): Promise<R> {
    await using control = await connectControl(stage.sidecar.dataDir)
    if (control === null) throw new Error('no sidecar runs')
    return await run(control)
  }
  const policy = (wanted: TrustPolicy | null, chatId: number | null = null) =>
    ask((operations) => operations.trustPolicy({ chatId, policy: wanted }))
  beforeEach(async () => void (await policy(null)), HOOK_MS)

  return {
    stage,
    ask,
    policy,
    accept: ({ id: userId }: { id: number }) =>
      ask((operations) => operations.trustAccept({ userId })),
    block: ({ id: userId }: { id: number }) =>
      ask((operations) => operations.trustBlock({ userId })),
    verify: ({ id: userId, phone }: Person, fingerprint = phone.fingerprint) =>
      ask((operations) => operations.trustVerify({ userId, fingerprint })),

    /** A send to this person alone is refused, and says why. */
    waits: async (chat: DoubleChat, { id }: { id: number }, reason: string): Promise<void> => {
      const message = await expectRefused(stage, chat, 'postern_trust_required')
      expect(message).toContain(`${id} (${reason})`)
    },
    /** What the bot gets of words of a person, signed or not. */
    signed: async (chat: DoubleChat, from: Person, words: string): Promise<Json> =>
      await arrives(stage, chat, from, await from.phone.seal(words, [stage.botCertificate])),
    bare: async (chat: DoubleChat, from: Person, words: string): Promise<Json> =>
      await arrives(
        stage,
        chat,
        from,
        await from.phone.sealUnsigned(words, [stage.botCertificate]),
      ),
  }
}

export function expectWithheld(message: Json, verdict: string, reason: string): void {
  expect(message.postern).toMatchObject({ verdict, reason })
  expect(message).not.toHaveProperty('text')
}
