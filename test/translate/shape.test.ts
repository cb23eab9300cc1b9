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

const shapes: [string, string, string][] = [
  ['CR LF and CR become LF', 'a\r\nb\rc', 'a\nb\nc'],
  ['the ends are trimmed', ' \n\t a \n\n', 'a'],
  ['two or more empty lines become one', 'a\n\n\nb\n\n\n\n\nc\n\nd', 'a\n\nb\n\nc\n\nd'],
  ['what is over 4000 units is cut', 'x'.repeat(4096), 'x'.repeat(4000)],
  ['no pair is cut through', `${'x'.repeat(3999)}🏯🏯`, 'x'.repeat(3999)],
]

const stage = useStage()

for (const [name, text, shaped] of shapes) {
  test(`an opened text has the shape of a readable text: ${name}`, async () => {
    const read = await opened(stage, text)
    expect(read.postern.verdict).toBe('verified')
    expect(read.text).toBe(shaped)
  })
}

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
  for (const [, text] of shapes) expect((await opened(unshaped, text)).text).toBe(text)
})
