import { isObject } from '../../api/common.ts'
import type { FaultName } from './table.ts'
import type { ActiveFault } from './faults.ts'

/** The call that a response answers. */
export interface ResponseContext {
  route: string
  params: Record<string, string>
}

type Lie = (result: unknown, fault: ActiveFault, context: ResponseContext) => void

/** How each lie of a hostile service changes a `result` in place. */
const LIES: Partial<Record<FaultName, Lie>> = {
  'claim-unprotected': ofMe(() => ({ mode: 'open', fingerprint: null })),
  'claim-fingerprint': ofMe(({ fingerprint }) => ({ mode: 'protected', fingerprint })),
  'claim-limits': ofMe(({ limits }, me) => ({ limits: { ...me.limits, ...limits } })),
  'claim-kind': (result, { chatId, kind }) => {
    visitObjects(result, (found) => {
      if (found['id'] === chatId && typeof found['kind'] === 'string') found['kind'] = kind
    })
  },
  'swap-key': (result, { userId, publicKey, fingerprint }) => {
    visitObjects(result, (found) => {
      if (found['userId'] !== userId || !('publicKey' in found)) return
      found['publicKey'] = publicKey
      found['fingerprint'] = fingerprint ?? found['fingerprint']
    })
  },
  ghost: (result, { userId, publicKey, fingerprint, chatId }, context) => {
    keyList(result, context, chatId)?.push({ userId, fingerprint, publicKey })
  },
  'hide-key': (result, { userId, chatId }, context) => {
    const keys = keyList(result, context, chatId)
    const index = keys?.findIndex((key) => isObject(key) && key['userId'] === userId) ?? -1
    if (index !== -1) keys?.splice(index, 1)
  },
}

function ofMe(lie: (fault: ActiveFault, me: { limits: object }) => object): Lie {
  return (result, fault, { route }) => {
    if (route === 'getMe') Object.assign(result as object, lie(fault, result as never))
  }
}

/** Changes a `result` in place by the rule of the fault. */
export const applyLie = (result: unknown, fault: ActiveFault, context: ResponseContext): void =>
  LIES[fault.name]?.(result, fault, context)

function keyList(result: unknown, context: ResponseContext, chatId: number | undefined) {
  const isMeant = chatId === undefined || context.params['chatId'] === String(chatId)
  if (context.route !== 'getChatKeys' || !isMeant || !isObject(result)) return null
  return Array.isArray(result['keys']) ? result['keys'] : null
}

function visitObjects(value: unknown, visit: (found: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const inner of value) visitObjects(inner, visit)
  if (!isObject(value)) return
  visit(value)
  for (const inner of Object.values(value)) visitObjects(inner, visit)
}
