import { expect, test } from 'vitest'
import { useStage, type Stage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'

async function opened(stage: Stage, text: string): Promise<Json> {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const armored = await person.phone.seal(text, [stage.botCertificate])
  const [read] = await stage.deliver([stage.double.world.message(chat, person, { armored })])
  return read
}

/** A readable text would have another shape. */
const unshapely = [
  'a\r\nb\rc',
  ' \n\t a \n\n',
  'a\n\n\nb\n\n\n\n\nc\n\nd',
  'x'.repeat(4096),
  `${'x'.repeat(3999)}🏯🏯`,
]

const stage = useStage()

test('an opened text that is a sealed message is not opened again', async () => {
  const person = await stage.friend()
  const inner = await person.phone.seal('inner', [stage.botCertificate])
  expect((await opened(stage, inner)).text).toBe(inner.trim())
})

test('numbers and unknown fields of an opened Message keep their exact spelling', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const armored = await person.phone.seal('numbers', [stage.botCertificate])
  const message = stage.double.world.message(chat, person, { armored, marker: 'NUMBERS' })
  const update = { updateId: stage.double.world.id(), kind: 'message', message }
  const body = JSON.stringify({ ok: true, result: [update] }).replace(
    '"NUMBERS"',
    '[9007199254740993,-9223372036854775808,18446744073709551615,1.0,1e400,0.10]',
  )
  using _exact = stage.double.script('GET', '/updates', { body })
  const answer = await stage.sidecar.call('GET', '/updates')
  expect(answer.json.result[0].message.text).toBe('numbers')
  expect(answer.text).toContain(
    '"marker":[9007199254740993,-9223372036854775808,18446744073709551615,1.0,1e400,0.10]',
  )
})

const unshaped = useStage({ env: { POSTERN_OPEN_NORMALIZE_TEXT: 'false' } })

test('an opened text is as it was sealed under `open.normalizeText` false', async () => {
  for (const text of unshapely) expect((await opened(unshaped, text)).text).toBe(text)
})
