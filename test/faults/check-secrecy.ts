/** I2 and I7: no sealed word in any byte that the service saw, no word and no secret in any log. */
import type { Evidence } from './checker.ts'
import { spellings } from '../support/spellings.ts'
import type { History } from './history.ts'

/** Canaries of sealed messages, and of whatever the bot said to them or into such chats. */
function protectedCanaries(history: History, { encryptedChats }: Evidence): string[] {
  const allowed = new Set(history.allowances.map(({ chatId }) => chatId))
  const heard = history.written
    .filter(({ sealed, poison, chatId }) => sealed && poison === null && !allowed.has(chatId))
    .map(({ canary }) => canary)
  const sealed = new Set(heard)
  const isToSealed = (answers: string | null) => answers !== null && sealed.has(answers)
  const said = [
    ...history.said.values(),
    ...history.later.map((one) => ({ ...one, answers: null })),
  ]
    .filter(({ chatId, answers }) => isToSealed(answers) || encryptedChats.includes(chatId))
    .map(({ canary }) => canary)
  return [...heard, ...said]
}

export function checkSecrecy(history: History, evidence: Evidence): string[] {
  const canaries = protectedCanaries(history, evidence)
  const everyWord = [
    ...history.written.map(({ canary }) => canary).filter((canary) => canary !== ''),
    ...[...history.said.values(), ...history.later].map(({ canary }) => canary),
  ]
  const seen = evidence.service.map((call) => Buffer.from(JSON.stringify(call)))
  const log = [Buffer.from(evidence.log)]
  return [
    ...found(canaries, evidence.wire, 'I2: sealed words in the bytes that went to the service'),
    ...found(canaries, seen, 'I2: sealed words in what the service saw'),
    ...found(everyWord, log, 'I7: somebody’s words in the log'),
    ...found(everyWord, evidence.atRest, 'I7: somebody’s words in the data directory'),
    ...found(evidence.secrets, log, 'I7: a secret in the log'),
    ...found(evidence.secrets, evidence.atRest, 'I7: a secret in the data directory'),
    ...(evidence.log.includes('BEGIN PGP') ? ['I7: an armored block in the log'] : []),
  ]
}

function found(words: readonly string[], places: readonly Buffer[], breach: string): string[] {
  const all = words.flatMap(spellings)
  return places.some((place) => all.some((spelling) => place.includes(spelling))) ? [breach] : []
}
