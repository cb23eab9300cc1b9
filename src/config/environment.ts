/** Ways in which a process was started that would undo what Postern promises. */
import { OperatorError } from '../errors.ts'
import type { Sources } from './sources.ts'

/**
 * Refuses to run in a process that shows its secrets or does not check certificates.
 * @throws OperatorError `environment`, with every reason at once
 */
export function refuseUnsafeProcess(sources: Sources): void {
  const { env, nodeOptions, inspectorOpen } = sources
  const has = (option: string) =>
    nodeOptions.some((given) => given === option || given.startsWith(`${option}=`))
  const reasons = [
    env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' &&
      'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate; name a private authority in upstream.caFile',
    has('--insecure-http-parser') && '--insecure-http-parser lets requests be smuggled',
    has('--tls-keylog') && '--tls-keylog writes down what opens every connection',
    inspectorOpen && 'an open inspector (--inspect) shows keys and words to whoever connects',
    env['NODE_ENV'] === 'development' &&
      'NODE_ENV=development makes the OpenPGP library print its errors',
  ].filter((reason) => reason !== false)
  if (reasons.length === 0) return
  throw new OperatorError(
    'environment',
    `this process would not be safe: ${reasons.join('; ')}`,
    'start without it',
  )
}
