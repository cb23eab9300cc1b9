/** From the service's updates to what the bot reads: opened side by side, answered in order. */
import { setImmediate as immediate } from 'node:timers/promises'
import { deliveredText } from '../api/text.ts'
import type { Seen, SeenCheck } from '../chats/seen.ts'
import { Refusal } from '../errors.ts'
import { examine, type ExamineParts, type Finding } from './examine.ts'
import { findMessages, type FoundMessage } from './find-messages.ts'
import { delivers, type Verdict, type VerifyPolicy } from './verdict.ts'

export interface IncomingParts extends ExamineParts {
  seen: Seen
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** Setting `open.normalizeText`. */
  normalizeText: boolean
  /** Called for every Message that got a verdict, with the time that it took to examine it. */
  judged: (verdict: Verdict, ms: number) => void
}

interface Examined {
  found: FoundMessage
  finding: Finding
  ms: number
}

export class Incoming {
  readonly #parts: IncomingParts

  constructor(parts: IncomingParts) {
    this.#parts = parts
  }

  /**
   * Opens the updates of one answer in place. Gives the longest prefix that was ready when the
   * time ran out, at least the first update; nothing is dropped, nothing changes its place.
   * @param updates parsed updates, oldest first
   * @param budgetMs time for the whole batch
   * @returns the updates to answer, and whether anything in them is not as it came
   */
  async open(
    updates: unknown[],
    budgetMs: number,
  ): Promise<{ updates: unknown[]; changed: boolean }> {
    const receivedAtMs = Date.now()
    const collected = updates.map(findMessages)
    const found = collected.map(({ messages }) => messages)
    await this.#learn(found.flat())
    const ready: (Examined[] | undefined)[] = updates.map(() => undefined)
    const work: Promise<void>[] = []
    for (const [index, messages] of found.entries()) {
      const examineAll = async (): Promise<void> => {
        ready[index] = await Promise.all(messages.map((one) => this.#examine(one, receivedAtMs)))
      }
      work.push(examineAll())
      // Walking a full message takes a millisecond or two: others get their turn in between.
      await immediate()
    }
    await Promise.race([Promise.all(work), Promise.all([work[0], delay(budgetMs)])])
    const end = ready.indexOf(undefined)
    const prefix = (end === -1 ? ready : ready.slice(0, end)).flatMap((some) => some ?? [])
    await this.#settle(prefix)
    const touched = prefix.some(({ finding }) => finding.kind !== 'untouched')
    const cleaned = collected.some((one) => one.cleaned)
    return {
      updates: end === -1 ? updates : updates.slice(0, end),
      changed: touched || cleaned || end !== -1,
    }
  }

  async #examine(found: FoundMessage, receivedAtMs: number): Promise<Examined> {
    const startedAtMs = performance.now()
    const finding = await examine(found, receivedAtMs, this.#parts).catch(() => unexamined(found))
    return { found, finding, ms: performance.now() - startedAtMs }
  }

  /** What the updates say of chats: kinds stick, a notice makes lists and modes stale. */
  async #learn(found: FoundMessage[]): Promise<void> {
    const { facts, directory, modes } = this.#parts
    for (const { chatId, chatKind, fromId, isOrdinary } of found) {
      if (chatId === null) continue
      if (chatKind !== null) await facts.sawKind(chatId, chatKind).catch(storeOnly)
      if (!isOrdinary) modes.forget(chatId)
      if (!isOrdinary || (fromId !== null && fromId !== this.#parts.botId())) {
        directory.sawPerson(chatId, isOrdinary ? fromId : null)
      }
    }
  }

  /** Asks the memory against replays in order, records what is delivered, and writes it all in. */
  async #settle(examined: Examined[]): Promise<void> {
    const opened = examined.some(({ finding }) => finding.kind === 'opened')
    if (!opened) {
      for (const one of examined) this.#apply(one)
      return
    }
    try {
      const verdicts = await this.#parts.seen.batch(
        async (check) => await this.#judgeAll(examined, check),
      )
      await this.#parts.people.rememberSigned(signersAmong(examined, verdicts))
      for (const [index, one] of examined.entries()) this.#apply(one, verdicts[index])
    } catch (error) {
      storeOnly(error)
      for (const one of examined) this.#apply(one.finding.kind === 'opened' ? unrecorded(one) : one)
    }
  }

  async #judgeAll(examined: Examined[], check: SeenCheck): Promise<(Verdict | undefined)[]> {
    const verdicts: (Verdict | undefined)[] = []
    for (const { found, finding } of examined) {
      verdicts.push(
        finding.kind === 'opened' ? await this.#judge(found, finding, check) : undefined,
      )
    }
    return verdicts
  }

  async #judge(
    found: FoundMessage,
    { opened, judged }: Extract<Finding, { kind: 'opened' }>,
    check: SeenCheck,
  ): Promise<Verdict> {
    const place = {
      chatId: found.chatId ?? 0,
      messageId: found.messageId,
      userId: found.fromId,
      dataDigest: opened.dataDigest,
    }
    for (const claim of [null, ...opened.signatures.map(({ digest }) => digest)]) {
      if (await check.isReplay({ ...place, signatureDigest: claim })) return 'replayed'
    }
    if (delivers(judged.verdict, this.#parts.verify)) {
      await check.remember({ ...place, signatureDigest: judged.signatureDigest ?? null })
    }
    return judged.verdict
  }

  #apply({ found: { message }, finding, ms }: Examined, settled?: Verdict): void {
    if (finding.kind === 'untouched') return
    if (finding.kind === 'words') return asWords(message)
    const verdict =
      settled ?? (finding.kind === 'opened' ? finding.judged.verdict : finding.verdict)
    this.#parts.judged(verdict, ms)
    const delivered = delivers(verdict, this.#parts.verify)
    const details = detailsOf(finding, verdict)
    if (finding.kind === 'opened' && delivered) {
      delete message['armored']
      message['text'] = this.#parts.normalizeText
        ? deliveredText(finding.opened.text)
        : finding.opened.text
      message['postern'] = { opened: true, verdict, ...details }
      return
    }
    message['postern'] = { opened: finding.kind === 'opened', verdict, ...details }
    if (!(finding.kind === 'plain' && delivered)) withholdText(message)
  }
}

function detailsOf(finding: Finding, verdict: Verdict): Record<string, string> {
  if (finding.kind === 'closed')
    return finding.reason === undefined ? {} : { reason: finding.reason }
  if (finding.kind !== 'opened') return {}
  const { judged } = finding
  return {
    ...(judged.signer === undefined || verdict !== 'verified' ? {} : { signer: judged.signer }),
    ...(judged.reason === undefined || verdict !== judged.verdict ? {} : { reason: judged.reason }),
  }
}

/** An armored text in a readable chat reads as text there, as in any client. */
function asWords(message: Record<string, unknown>): void {
  message['text'] = message['armored']
  delete message['armored']
  message['postern'] = { opened: false, verdict: 'unsigned', reason: 'readable-chat' }
}

/** Text that is not delivered is kept beside the verdict; nothing is lost. */
function withholdText(message: Record<string, unknown>): void {
  const { text } = message
  if (typeof text !== 'string' || text === '') return
  delete message['text']
  message['postern'] = { ...(message['postern'] as object), withheldText: text }
}

/** What cannot be recorded as seen is not opened. */
function unrecorded(one: Examined): Examined {
  return { ...one, finding: { kind: 'closed', verdict: 'locked', reason: 'store-unwritable' } }
}

/** Something went wrong with this one alone: the others must not wait for it. */
function unexamined({ message }: FoundMessage): Finding {
  return typeof message['armored'] === 'string'
    ? { kind: 'closed', verdict: 'damaged', reason: 'failed' }
    : { kind: 'plain', verdict: 'mode-unknown' }
}

function signersAmong(examined: Examined[], verdicts: (Verdict | undefined)[]): number[] {
  return examined.flatMap(({ found }, index) =>
    verdicts[index] === 'verified' && found.fromId !== null ? [found.fromId] : [],
  )
}

/** Passes over a store that cannot be written, which the sidecar lives with; nothing else. */
function storeOnly(error: unknown): void {
  if (error instanceof Refusal && error.code === 'postern_store_unwritable') return
  throw error
}

async function delay(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
