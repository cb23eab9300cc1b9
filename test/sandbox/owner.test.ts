import { expect, test } from 'vitest'
import { ask, still } from './support.ts'

test('a pause, a revoke and a new token each end the poll in progress', async () => {
  await using sandbox = await still()
  const botId = sandbox.home.bot.id
  const { control } = sandbox
  const ends = [control.pause, control.revokeToken, control.issueToken]
  for (const end of ends) {
    const { token } = await control.issueToken({ botId })
    await control.resume({ botId })
    const seen = sandbox.transcript.list().length
    const waiting = ask(sandbox, 'GET /updates?timeout=50', { token })
    while (sandbox.transcript.list().length === seen) await new Promise((r) => setTimeout(r, 1))
    await new Promise((resolve) => setTimeout(resolve, 10))
    await end({ botId })
    expect((await waiting).result).toEqual([])
  }
})
