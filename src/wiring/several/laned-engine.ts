/** One engine for several bots: its work is shared fairly between them. */
import type { MeasuredEngine } from '../../openpgp/index.ts'
import { FairQueue, type Lane } from '../../util/fair-queue.ts'

/** Tasks of all bots at once: as many as keep every thread busy, and no more to wait behind. */
const SLOTS = 8
/** Slots of one bot beside others, so that a slot is free when those need one. */
const AMONG_OTHERS = 2

/** In which order the work of several bots is done: a lane for each. */
export const createEngineQueue = (): FairQueue =>
  new FairQueue({ slots: SLOTS, perLane: SLOTS, perLaneAmongOthers: AMONG_OTHERS })

/**
 * An engine for one of several bots: its jobs run in the bot's turn. An attachment, which arrives
 * as slowly as its sender likes, waits for no turn and delays nobody. A killed thread is not
 * attributed to a bot, and not reported here.
 * @param o `owner` the bot's name
 */
export const lanedEngine = (
  engine: MeasuredEngine,
  { lane, owner }: { lane: Lane; owner: string },
): MeasuredEngine => ({
  generate: (options) => lane.run(() => engine.generate(options)),
  unlock: (...locked) => lane.run(() => engine.unlock(...locked)),
  certify: (...certified) => lane.run(() => engine.certify(...certified)),
  relock: (locked, o) => lane.run(() => engine.relock(locked, o)),
  adopt: (file, secrets) => lane.run(() => engine.adopt(file, secrets)),
  seal: (request) => lane.run(() => engine.seal({ ...request, owner })),
  sealKnown: (request) => lane.run(() => engine.sealKnown({ ...request, owner })),
  judge: (armored, known) => lane.run(() => engine.judge(armored, known)),
  certifications: (...asked) => lane.run(() => engine.certifications(...asked)),
  open: (armored, keys, signal) => lane.run(() => engine.open(armored, keys, signal)),
  openFile: (reader, options) => engine.openFile(reader, options),
  verify: (...asked) => lane.run(() => engine.verify(...asked)),
  signText: (...signed) => lane.run(() => engine.signText(...signed)),
  readSigned: (...files) => lane.run(() => engine.readSigned(...files)),
  readKeyring: (...ring) => lane.run(() => engine.readKeyring(...ring)),
  onThreadKilled: () => {},
  onAvailable: engine.onAvailable,
  onDisagreement: () => {},
  onCheck: () => {},
  onDifference: engine.onDifference,
  load: () => ({ threads: {}, certificates: null }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
})
