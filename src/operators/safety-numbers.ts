/** Operations on the safety number of the bot's certificate and a person's. */
import { z } from 'zod'
import { OperatorError, refusedError, usageError } from '../errors.ts'
import { isForgotten } from '../store/forgotten.ts'
import { compareNumber, safetyNumber, type NumberHolders } from './trust/number.ts'
import { operation, type OperationParts } from './operation.ts'
import { describePin } from './trust.ts'

/** The number of a person, and what it is of. */
export type NumberReport = Awaited<ReturnType<typeof SAFETY_NUMBERS.trustNumber.run>>

const NumberInput = z.strictObject({
  /** An id, or a handle as the service last showed it. */
  person: z.string(),
  /** Of the certificate that the service lists now, where another one is believed. */
  isListed: z.boolean(),
})

const CompareInput = NumberInput.extend({ given: z.string().max(4096) })

export const SAFETY_NUMBERS = {
  /** The safety number of the bot’s certificate and a person’s: the believed, or the listed one. */
  trustNumber: operation(NumberInput, async (parts, input) => {
    const { bot, person, ...standing } = await holdersOf(parts, input)
    const number = await safetyNumber({ bot, person })
    const { userId: botId, fingerprint: botFingerprint } = bot
    return { ...person, ...standing, botId, botFingerprint, ...number }
  }),
  /** Compares the number that a person’s app shows; where it is the same, the person is verified. */
  trustCompare: operation(CompareInput, async (parts, input) => {
    const { trust, journal, directory } = parts
    const { bot, person, listed } = await holdersOf(parts, input)
    const { userId, fingerprint } = person
    trust.decisions.requireComparable(userId)
    const result = await compareNumber(input.given, { bot, person })
    const botFingerprint = bot.fingerprint
    if (result === 'equal') {
      const pin = await trust.decisions.verify(userId, fingerprint, {
        comparedWith: botFingerprint,
      })
      directory.forgetAll()
      const message = `the numbers are equal: ${describePin(pin)}`
      return { userId, fingerprint, botFingerprint, message }
    }
    const detail = { fingerprint, comparedWith: botFingerprint }
    await journal.record([{ kind: 'number-differs', userId, detail }])
    const other = { bot, person: { userId, fingerprint: listed ?? fingerprint } }
    const isOfListed = (await compareNumber(input.given, other)) === 'equal'
    throw new OperatorError(
      'number-differs',
      `the numbers differ: ${DIFFERENCES[isOfListed ? 'listed' : result]}; nothing was changed`,
      (isOfListed ? LISTED_HINT : HINT).replace('ID', String(userId)),
    )
  }),
}

const DIFFERENCES = {
  bot: 'the part of the bot’s certificate is another one',
  person: 'the part of the person’s certificate is another one',
  both: 'both parts are other ones',
  listed: 'this one is of the certificate that the service lists now, and another is believed',
}
const HINT =
  'read it once more, from the app’s chat opened anew: it changes with the bot’s key and with theirs; ' +
  'if it still differs, somebody may stand between you: `postern trust block ID` ends sealing to ' +
  'them, and tell whoever runs the service'
const LISTED_HINT =
  'if you heard it from the person’s own mouth, `postern trust compare ID --listed` verifies it; a ' +
  'message proves nothing'

/** @throws OperatorError `refused` where there is no certificate to compare; as `idOf` */
async function holdersOf(
  { trust, keyring, directory, botId, names }: OperationParts,
  { person, isListed }: z.output<typeof NumberInput>,
): Promise<NumberHolders & { listed: string | null; standing: string }> {
  const userId = idOf(person, await names.all())
  const ownId = botId()
  const own = keyring.active
  if (ownId === null || own === undefined) {
    const hint = '`postern run` publishes it; `postern status` shows how far it is'
    throw refusedError('the bot has no published key yet, so there is no number', hint)
  }
  // without an answer, the listing as last seen counts
  await directory.refreshUser(userId).catch(() => undefined)
  const pin = trust.believedOf(userId)
  const { listed = null, standing = 'seen' } = pin ?? {}
  // by the policy of the bot; no chat has the id 0
  const isUsed = listed !== null && trust.distrust(userId, listed, 0) === null
  const fingerprint = isListed || isUsed ? listed : (pin?.fingerprint ?? null)
  const hint = '`postern trust list` shows everybody whom we know'
  if (fingerprint === null) {
    throw refusedError(`no certificate of person ${userId} is listed, as far as was seen`, hint)
  }
  if (isForgotten(fingerprint)) {
    throw refusedError(
      `person ${userId} was forgotten, and the service lists another certificate than the believed one`,
      '`--listed` is about the listed one',
    )
  }
  if (userId === ownId || keyring.fingerprints.has(fingerprint)) {
    throw refusedError('this is the bot’s own certificate, and no person’s', hint)
  }
  const bot = { userId: ownId, fingerprint: own.fingerprint }
  return { bot, person: { userId, fingerprint }, listed, standing }
}

/** @throws OperatorError `usage` for a handle that is not of one person alone: nothing proves it */
function idOf(person: string, names: ReadonlyMap<number, string>): number {
  if (/^-?\d{1,15}$/.test(person)) return Number(person)
  const handle = person.replace(/^@/, '').toLowerCase()
  const [found, ...others] = [...names].filter(([, name]) => name.toLowerCase() === handle)
  if (found !== undefined && others.length === 0) return found[0]
  throw usageError(
    `${found === undefined ? 'nobody whom we know has' : 'several people have had'} this handle`,
    'name the person by id: `postern trust list` shows ids and handles',
  )
}
