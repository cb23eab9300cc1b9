import { expect, test } from 'vitest'
import { useStage, type Stage } from '../support/double-stage.ts'
import { fetched, named, outcomeOf, picture, sealedBy } from './support.ts'

const strict = useStage({ env: { POSTERN_OPEN_VERIFY: 'require' } })
const lax = useStage({ env: { POSTERN_OPEN_VERIFY: 'off' } })

/** What comes of four kinds of files. */
async function outcomes(stage: Stage): Promise<Record<string, string>> {
  const [from, other] = [await stage.person(), await stage.person()]
  const chat = stage.group([from, other])
  const files = {
    plain: picture(),
    unsigned: await sealedBy(from, stage, picture(), { isSigned: false, others: [from, other] }),
    another: await sealedBy(other, stage, picture(), { others: [from] }),
    signed: await sealedBy(from, stage, picture(), { others: [other] }),
  }
  const verdicts: Record<string, string> = {}
  for (const [name, content] of Object.entries(files)) {
    verdicts[name] = await outcomeOf(stage, await named(stage, content, { chat, from }))
  }
  return verdicts
}

test('a sidecar with `open.verify` require serves an unsealed file of a readable chat', async () => {
  const from = await strict.friend()
  const url = await named(strict, picture(), { chat: strict.openGroup(), from })
  expect((await fetched(strict, url)).status).toBe(200)
})

const BAD = '422 postern_bad_signature'
const OPEN = {
  plain: 'plaintext-in-protected',
  unsigned: 'unsigned',
  another: 'bad-signature',
  signed: 'verified',
}
const NO_SEAL = '422 postern_plaintext_in_protected'
test.each([
  ['require', strict, { plain: NO_SEAL, unsigned: BAD, another: BAD, signed: 'verified' }],
  ['off', lax, OPEN],
])('a sidecar with `open.verify` %s serves files by their signatures', async (_, at, expected) => {
  expect(await outcomes(at)).toEqual(expected)
})
