/** What a thread of the library does for each job. */
import { expect, test } from 'vitest'
import { describeOwnKey, judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { JOBS } from '../../../src/openpgp/library/worker.ts'
import { NOW_MS, alice } from '../../support/openpgp-people.ts'

test('a certificate is judged with an earlier copy, and described where native code asks', async () => {
  const { status, info } = await judgeFully(alice.certificate, NOW_MS)
  expect(info).not.toBeNull()
  for (const isForNative of [undefined, false]) {
    const judged = await JOBS.judge(alice.certificate, NOW_MS, undefined, isForNative)
    expect(judged).toEqual({ status, info: null })
  }
  expect(await JOBS.judge(alice.certificate, NOW_MS, undefined, true)).toEqual({ status, info })
})

test('an own key is described', async () => {
  expect(await JOBS.describeOwnKey(alice.unlocked, NOW_MS)).toEqual(
    await describeOwnKey(alice.unlocked, NOW_MS),
  )
})
