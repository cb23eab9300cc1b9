import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'

/** With the usual times: so much is not read in a tenth of them where others are busy. */
const stage = useStage()

test('an answer of 17 MB to a poll is refused with 502, and the next poll works', async () => {
  const big = { json: { ok: true, result: [{ updateId: 1, kind: 'x'.repeat(17 << 20) }] } }
  {
    using _big = stage.double.script('GET', '/updates', big)
    const answer = await stage.sidecar.call('GET', '/updates')
    expect([answer.status, answer.json.error.code]).toEqual([502, 'postern_upstream_invalid'])
  }
  expect((await stage.sidecar.call('GET', '/updates')).status).toBe(200)
})
