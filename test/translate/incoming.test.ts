import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { expect, test, vi } from 'vitest'
import { Clocks } from '../../src/kernel/clocks.ts'
import { ALICE, MALLORY } from '../kernel/opening/examine-scene.ts'
import {
  CERTIFICATE,
  SIGNED,
  claim,
  openedAs,
  scene,
  signedBy,
  update,
  verdictOf,
} from './incoming-scene.ts'

const SIGNATURE = { ...SIGNED, signatures: [claim] }
test.each([
  ['after what its person signed is withheld', SIGNATURE, SIGNED, 'verified', 'bad-signature'],
  ['before what its person signs is delivered', SIGNED, SIGNATURE, 'unsigned', 'verified'],
  ['after a replay is delivered', SIGNATURE, SIGNED, 'replayed', 'unsigned'],
])('an unsigned message %s in one batch', async (_, one, other, ...verdicts) => {
  const open = vi.fn(openedAs()).mockResolvedValueOnce(one).mockResolvedValueOnce(other)
  const { incoming, all } = scene({ open })
  if (verdicts[0] === 'replayed') all.recognized.mockResolvedValueOnce('replayed')
  const both = [update(), update({ id: 4 })]
  await incoming.open(both)
  expect(both.map((message) => verdictOf(message)['verdict'])).toEqual(verdicts)
  const reason = verdicts[1] === 'bad-signature' ? 'stopped-signing' : undefined
  expect(both.map((message) => verdictOf(message)['reason'])).toEqual([undefined, reason])
})

test.each<[string, (all: ReturnType<typeof scene>['all']) => unknown, boolean, object]>([
  [
    'blocked',
    ({ distrust }) => distrust.mockReturnValue('blocked'),
    true,
    { verdict: 'unknown-signer', reason: 'blocked' },
  ],
  [
    'known to sign',
    (all) => (all.hasSigned = true),
    false,
    { verdict: 'bad-signature', reason: 'stopped-signing' },
  ],
  [
    'a stranger there',
    (all) => (all.personId = MALLORY),
    true,
    { verdict: 'bad-signature', reason: 'other-person' },
  ],
])(
  'a message is withheld where its sender is found to be %s after its examination',
  async (...given) => {
    const [, learn, isSigned, verdict] = given
    const { incoming, all } = scene({ open: isSigned ? signedBy() : openedAs() })
    all.batch.mockImplementation(async (judge) => {
      learn(all)
      return await judge({ recognize: all.recognized, remember: all.remember })
    })
    const one = update()
    await incoming.open([one])
    expect(verdictOf(one)).toMatchObject(verdict)
    if (isSigned) expect(all.distrust).toHaveBeenLastCalledWith(ALICE, CERTIFICATE, 50)
  },
)

test('an update is left at the service while neither clock can be right', async () => {
  const clock = new Clocks(SYSTEM_TIME, () => null)
  clock.passed(Date.now() + 60_000)
  const { incoming, all } = scene({}, { clock })
  const one = update()
  await expect(incoming.open([one])).rejects.toMatchObject({ code: 'postern_clock_wrong' })
  expect([all.open, all.batch].map((asked) => asked.mock.calls.length)).toEqual([0, 0])
  expect(one).not.toHaveProperty('message.postern')
})
