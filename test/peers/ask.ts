/** Asking a program about a shape. */
import type { Peer } from '../support/peers/index.ts'
import { questionsOf } from './all.ts'
import type { Answers } from './kept.ts'
import { READ_MS, isTextOf, reader, type Shape } from './shape.ts'

export async function ask(peer: Peer, shape: Shape): Promise<Answers> {
  const { message, certificate, secret = reader.secret } = shape
  const asked = questionsOf(shape)
  const answers: Answers = {}
  if (asked.includes('seal')) answers.seal = await peer.encrypts(certificate, READ_MS)
  const question = { message, certificate, secrets: [secret], atMs: READ_MS }
  const { text, valid } = await peer.open(question)
  const isRead = text !== null && isTextOf(shape, text.toString())
  if (asked.includes('read')) answers.read = isRead
  if (asked.includes('verify')) answers.verify = isRead && valid > 0
  return answers
}
