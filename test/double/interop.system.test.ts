import { expect, test } from 'vitest'
import { GpgPhone, RnpPhone, SqPhone, type Phone } from '../support/double-phones.ts'
import { useStage } from '../support/double-stage.ts'

const stage = useStage()

const programs: [string, () => Promise<Phone>][] = [
  ['GnuPG', () => GpgPhone.make()],
  ['GnuPG with NIST P-256', () => GpgPhone.make({ parameters: NIST })],
  ['sq', () => SqPhone.make()],
  ['rnp', () => RnpPhone.make()],
]
const NIST = [
  'Key-Type: ecdsa',
  'Key-Curve: nistp256',
  'Subkey-Type: ecdh',
  'Subkey-Curve: nistp256',
  'Subkey-Usage: encrypt',
]
const WORDS = 'Grüße aus 東京 🏯\nwith a second line'

test.each(programs)(
  '%s and the sidecar open and verify the messages of each other',
  async (_program, make) => {
    const person = stage.with(await make())
    const chat = stage.privateChat(person)
    const armored = await person.phone.seal(WORDS, [stage.botCertificate])

    const [message] = await stage.deliver([stage.double.world.message(chat, person, { armored })])
    expect(message).toMatchObject({
      text: WORDS,
      postern: { opened: true, verdict: 'verified', signer: person.phone.fingerprint },
    })
    expect(message).not.toHaveProperty('armored')

    const since = stage.double.mark()
    const sent = await stage.send(chat, WORDS)
    const edited = await stage.edit(chat, sent.json.result.id, { text: `${WORDS}, edited` })
    expect([sent.status, edited.status]).toEqual([201, 200])
    const [first, second] = stage.bodies(since)
    const bot = stage.double.world.published
    for (const [body, text] of [
      [first, WORDS],
      [second, `${WORDS}, edited`],
    ]) {
      const opened = await person.phone.open(body.armored, stage.botCertificate)
      expect(opened).toEqual({ text, signer: bot?.fingerprint })
    }
  },
)
